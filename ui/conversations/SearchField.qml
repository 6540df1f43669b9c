// Where one types what to look for. Down goes to what was found, Esc ends the search.
import QtQuick
import QtQuick.Controls
import Spillway.Ui.Components
import Spillway.Ui.Theme

TextField {
    id: root

    signal downRequested
    signal firstRequested
    signal leaveRequested

    objectName: "searchField"
    implicitHeight: Theme.controlHeight
    leftPadding: Theme.px(34)
    rightPadding: text === "" ? Theme.px(52) : Theme.px(34)
    topPadding: 0
    bottomPadding: 0
    verticalAlignment: TextInput.AlignVCenter
    selectByMouse: true
    maximumLength: 400
    font.pixelSize: Theme.sizeSmall + 1
    color: Theme.text
    selectionColor: Theme.selection
    selectedTextColor: Theme.text
    placeholderText: qsTr("Search")
    placeholderTextColor: Theme.textMuted

    Accessible.role: Accessible.EditableText
    Accessible.name: qsTr("Search conversations")
    Accessible.searchEdit: true

    onAccepted: firstRequested()
    Keys.onDownPressed: downRequested()
    Keys.onShortcutOverride: event => event.accepted = event.key === Qt.Key_Escape || event.key === Qt.Key_Delete
    Keys.onEscapePressed: {
        if (text === "")
            leaveRequested();
        else
            clear();
    }

    background: Rectangle {
        radius: Theme.radiusSmall
        color: Theme.raised
        border.width: 1
        border.color: root.activeFocus ? Theme.accent : Theme.border
    }

    Picture {
        anchors.left: parent.left
        anchors.leftMargin: Theme.px(10)
        anchors.verticalCenter: parent.verticalCenter
        source: "qrc:/icons/search.svg"
        size: Theme.px(17)
    }
    Text {
        anchors.right: parent.right
        anchors.rightMargin: Theme.px(10)
        anchors.verticalCenter: parent.verticalCenter
        visible: root.text === "" && !root.activeFocus
        text: "Ctrl+K"
        font.pixelSize: Theme.sizeSmall - 2
        color: Theme.textMuted
        Accessible.ignored: true
    }
    IconButton {
        objectName: "searchClear"
        anchors.right: parent.right
        anchors.rightMargin: Theme.gapTiny
        anchors.verticalCenter: parent.verticalCenter
        visible: root.text !== ""
        size: Theme.px(28)
        pictureSize: Theme.px(15)
        focusPolicy: Qt.NoFocus
        name: qsTr("Clear the search")
        source: "qrc:/icons/close.svg"
        onClicked: {
            root.clear();
            root.forceActiveFocus(Qt.OtherFocusReason);
        }
    }
}
