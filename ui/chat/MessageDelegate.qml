// One message: the user's in a quiet bubble on the right, the model's across the column.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Layouts
import Spillway.App
import Spillway.Ui.Theme

Item {
    id: root

    // from the model
    required property int index
    required property int author
    required property BlockModel blocks
    required property string text
    required property int status
    required property string sentence
    required property var tokens
    required property var ttftMs
    required property var tokensPerSecond

    // from the page
    required property ChatController chat
    required property int columnWidth
    required property bool last

    signal newRequested

    readonly property bool mine: author === MessageModel.User
    readonly property bool waiting: status === MessageModel.Waiting

    implicitHeight: column.implicitHeight

    Accessible.role: Accessible.ListItem
    Accessible.name: mine ? qsTr("You") : qsTr("Model")

    // How wide the user's words would like to be.
    Text {
        id: measure

        visible: false
        text: root.mine ? root.text.slice(0, 1000) : ""
        textFormat: Text.PlainText
        font.pixelSize: Theme.sizeBody
    }

    ColumnLayout {
        id: column

        width: root.columnWidth
        anchors.horizontalCenter: parent.horizontalCenter
        spacing: Theme.gapSmall

        Rectangle {
            Layout.alignment: root.mine ? Qt.AlignRight : Qt.AlignLeft
            Layout.fillWidth: !root.mine
            Layout.preferredWidth: root.mine ? Math.min(measure.implicitWidth + 2 * Theme.gap + 1, root.columnWidth * 0.84) : -1
            Layout.preferredHeight: body.height + (root.mine ? 2 * Theme.gapSmall : 0)
            visible: root.text !== ""
            radius: Theme.radiusLarge
            color: root.mine ? Theme.sunken : "transparent"

            Column {
                id: body

                x: root.mine ? Theme.gap : 0
                y: root.mine ? Theme.gapSmall + 2 : 0 // the room between lines is below each of them
                width: parent.width - 2 * x

                Repeater {
                    model: root.blocks
                    delegate: TextBlock {
                        width: body.width
                    }
                }
            }
        }
        WaitingDots {
            objectName: "waitingDots"
            visible: root.waiting
        }
        MessageFooter {
            objectName: "footer"
            Layout.fillWidth: true
            visible: !root.mine && !root.waiting && root.status !== MessageModel.Streaming
            status: root.status
            sentence: root.sentence
            tokens: root.tokens
            ttftMs: root.ttftMs
            tokensPerSecond: root.tokensPerSecond
            canRetry: root.last && root.chat.canSend
            canCopy: root.text !== ""
            onCopyRequested: root.chat.copy(root.text)
            onRetryRequested: root.chat.retry()
            onNewRequested: root.newRequested()
        }
    }
}
