// Where one types. Enter sends, Shift+Enter breaks the line; what cannot be sent now stays, with the reason.
import QtQuick
import QtQuick.Controls
import Spillway.App
import Spillway.Ui.Components
import Spillway.Ui.Theme

FocusScope {
    id: root

    required property ChatController chat
    required property string modelName

    readonly property int tallest: 200
    readonly property bool wanted: field.text.trim() !== "" // there is something to send

    signal sent

    function takeFocus() {
        field.forceActiveFocus(Qt.OtherFocusReason);
    }

    function send() {
        if (!root.wanted)
            return;
        if (root.chat.send(field.text)) {
            field.clear();
            root.sent();
        } else {
            refusal.visible = true;
        }
    }

    implicitHeight: box.height + (refusal.visible ? refusal.implicitHeight + Theme.gapTiny : 0)

    Rectangle {
        id: box

        width: parent.width
        height: Math.max(56, Math.min(field.implicitHeight, root.tallest) + 2 * Theme.gapSmall)
        radius: Theme.radiusLarge
        color: Theme.raised
        border.width: 1
        border.color: field.activeFocus ? Theme.accent : Theme.borderStrong

        MouseArea {
            anchors.fill: parent
            cursorShape: Qt.IBeamCursor
            onPressed: root.takeFocus()
        }

        ScrollView {
            anchors.left: parent.left
            anchors.leftMargin: Theme.gapSmall
            anchors.right: button.left
            anchors.rightMargin: Theme.gapTiny
            anchors.verticalCenter: parent.verticalCenter
            height: Math.min(field.implicitHeight, root.tallest)
            ScrollBar.horizontal.policy: ScrollBar.AlwaysOff

            TextArea {
                id: field

                objectName: "composerField"
                focus: true
                textFormat: TextEdit.PlainText
                wrapMode: TextEdit.Wrap
                selectByMouse: true
                padding: Theme.gapSmall
                font.pixelSize: Theme.sizeBody
                color: Theme.text
                selectionColor: Theme.selection
                selectedTextColor: Theme.text
                placeholderText: root.modelName !== "" ? qsTr("Message %1").arg(root.modelName) : qsTr("Write a message")
                placeholderTextColor: Theme.textMuted
                background: null

                Accessible.role: Accessible.EditableText
                Accessible.name: qsTr("Message")
                Accessible.multiLine: true

                // Tab moves on, as everywhere; a message needs no tab characters.
                Keys.onTabPressed: nextItemInFocusChain(true).forceActiveFocus(Qt.TabFocusReason)
                Keys.onBacktabPressed: nextItemInFocusChain(false).forceActiveFocus(Qt.BacktabFocusReason)
                Keys.onPressed: event => {
                    const enter = event.key === Qt.Key_Return || event.key === Qt.Key_Enter;
                    if (!enter || event.modifiers & Qt.ShiftModifier || inputMethodComposing)
                        return;
                    event.accepted = true;
                    root.send();
                }
            }
        }

        IconButton {
            id: button

            readonly property bool stops: root.chat.busy

            objectName: "sendButton"
            anchors.right: parent.right
            anchors.bottom: parent.bottom
            anchors.margins: (56 - height) / 2
            size: 40
            filled: true
            enabled: stops ? root.chat.state !== ChatController.Stopping : root.chat.canSend && root.wanted
            name: stops ? qsTr("Stop") : qsTr("Send")
            shortcutText: stops ? qsTr("Esc") : qsTr("Enter")
            source: stops ? "qrc:/icons/stop.svg" : "qrc:/icons/send.svg"
            onClicked: stops ? root.chat.stop() : root.send()
        }
    }

    // Why Enter did nothing; gone when it would.
    Text {
        id: refusal

        objectName: "refusal"
        anchors.top: box.bottom
        anchors.topMargin: Theme.gapTiny
        x: Theme.gapSmall
        visible: false
        text: root.chat.obstacle
        textFormat: Text.PlainText
        font.pixelSize: Theme.sizeSmall
        color: Theme.warning
        onTextChanged: {
            if (text === "")
                visible = false;
        }

        Accessible.role: Accessible.AlertMessage
        Accessible.name: text
    }
}
