// Lets a title be changed in its place, while it is visible. Enter keeps the change, Esc gives it up, leaving the field
// keeps it.
import QtQuick
import QtQuick.Controls
import Spillway.Ui.Theme

TextField {
    id: root

    required property string title

    property bool over: true // the change was kept or given up

    signal renamed(string title)
    signal ended

    function end(keep: bool) {
        if (over)
            return;
        over = true;
        root.focus = false; // hidden, it would keep the keyboard; if it has it, the list around it gets it
        if (keep)
            root.renamed(text);
        root.ended();
    }

    objectName: "renameField"
    maximumLength: 200
    selectByMouse: true
    implicitHeight: Theme.px(28)
    leftPadding: Theme.px(6)
    rightPadding: Theme.px(6)
    topPadding: 0
    bottomPadding: 0
    verticalAlignment: TextInput.AlignVCenter
    font.pixelSize: Theme.sizeSmall + 1
    color: Theme.text
    selectionColor: Theme.selection
    selectedTextColor: Theme.text

    Accessible.role: Accessible.EditableText
    Accessible.name: qsTr("Title")

    onVisibleChanged: {
        if (!visible)
            return;
        text = title;
        over = false;
        forceActiveFocus(Qt.OtherFocusReason);
        selectAll();
    }
    onActiveFocusChanged: {
        if (!activeFocus)
            end(true);
    }
    // Takes Esc and Del from the window.
    Keys.onShortcutOverride: event => event.accepted = event.key === Qt.Key_Escape || event.key === Qt.Key_Delete
    Keys.onEscapePressed: end(false)
    // Not onAccepted: the key would also reach the list, where it opens a conversation.
    Keys.onReturnPressed: end(true)
    Keys.onEnterPressed: end(true)

    background: Rectangle {
        radius: Theme.px(5)
        color: Theme.raised
        border.width: 1
        border.color: Theme.accent
    }
}
