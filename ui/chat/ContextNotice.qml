// Says that the context is (nearly) full, or a message is longer than it, and offers what the user may choose now.
// Nothing is chosen for them.
import QtQuick
import QtQuick.Layouts
import Spillway.App
import Spillway.Ui.Components
import Spillway.Ui.Theme

Rectangle {
    id: root

    required property ChatController chat

    signal newRequested
    signal editRequested // the last question is to be edited

    readonly property bool full: chat.context.full
    readonly property bool wanted: full || chat.context.nearlyFull
    readonly property bool tooLong: full && chat.context.tooLongTokens > 0
    readonly property bool roomCanBeMade: wanted && (chat.context.canDropOldest || chat.context.largerTokens > 0)

    function sentence(): string {
        if (root.tooLong)
            return qsTr("Your message alone is longer than the context. Make it shorter, or the context larger.");
        if (root.full)
            return root.roomCanBeMade ? qsTr("The context is full. Choose how this conversation goes on.")
                                      : qsTr("The context is full, and no room can be made in it. Go on in a new conversation.");
        return root.chat.turn.busy ? qsTr("The context is nearly full. Unless you choose otherwise, the answer stops when it is.")
                                   : qsTr("The context is nearly full.");
    }

    implicitHeight: column.implicitHeight + 2 * Theme.gapSmall
    radius: Theme.radius
    color: Theme.warningGround
    border.width: 1
    border.color: Qt.alpha(Theme.warning, 0.35)

    Accessible.role: Accessible.AlertMessage
    Accessible.name: root.sentence()

    ColumnLayout {
        id: column

        anchors.fill: parent
        anchors.leftMargin: Theme.gap
        anchors.rightMargin: Theme.gapSmall
        anchors.topMargin: Theme.gapSmall
        anchors.bottomMargin: Theme.gapSmall
        spacing: Theme.gapSmall

        RowLayout {
            Text {
                objectName: "contextSentence"
                Layout.fillWidth: true
                text: root.sentence()
                textFormat: Text.PlainText
                wrapMode: Text.Wrap
                font.pixelSize: Theme.sizeBody
                color: Theme.text
                Accessible.ignored: true
            }
            IconButton {
                objectName: "contextDismiss"
                name: qsTr("Dismiss")
                source: "qrc:/icons/close.svg"
                onClicked: root.chat.context.dismissNotice()
            }
        }
        Flow {
            id: choices

            Layout.fillWidth: true
            Layout.bottomMargin: Theme.gapTiny
            spacing: Theme.gapSmall

            WrappingButton {
                objectName: "contextEdit"
                room: choices.width
                visible: root.tooLong
                enabled: root.chat.turn.canSend
                text: qsTr("Edit the message")
                onClicked: root.editRequested()
            }
            WrappingButton {
                objectName: "dropOldest"
                room: choices.width
                visible: root.wanted && !root.tooLong && root.chat.context.canDropOldest
                text: qsTr("Leave out the oldest messages")
                onClicked: root.chat.context.dropOldest()
            }
            WrappingButton {
                readonly property int tokens: root.wanted ? root.chat.context.largerTokens : 0

                objectName: "raiseContext"
                room: choices.width
                visible: tokens > 0
                text: qsTr("Raise it to %1 tokens (up to %2)").arg(Format.count(tokens)).arg(Format.bytes(tokens > 0 ? root.chat.context.largerBytes : 0))
                onClicked: root.chat.context.raise()
            }
            WrappingButton {
                objectName: "contextStop"
                room: choices.width
                visible: root.chat.turn.busy
                text: qsTr("Stop the answer")
                onClicked: root.chat.turn.stop()
            }
            WrappingButton {
                objectName: "contextNew"
                room: choices.width
                visible: !root.chat.turn.busy && !root.tooLong
                text: qsTr("New conversation")
                onClicked: root.newRequested()
            }
        }
    }
}
