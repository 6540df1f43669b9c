// Shows the text of an answer that stands beside others, and the reason why it ended. It stays at the newest text until
// the user scrolls away from it.
import QtQuick
import QtQuick.Controls
import Spillway.App
import Spillway.Ui.Components
import Spillway.Ui.Theme

Flickable {
    id: root

    required property ChatController chat
    required property var message // the column, with the roles of MessageModel
    required property bool live

    signal linkRequested(string link)

    property bool follows: false // it stays at the newest text

    function scroll(distance: real) {
        contentY = Math.max(0, Math.min(contentHeight - height, contentY + distance));
        follows = atYEnd;
    }
    function scrollSideways(distance) {
        return blockColumn.scrollSideways(distance);
    }
    // Keeps the scroll position, within the new bounds, when the text or the room has changed.
    function settle() {
        const end = Math.max(0, contentHeight - height);
        contentY = follows ? end : Math.min(contentY, end);
    }

    contentHeight: words.height
    clip: true
    boundsBehavior: Flickable.StopAtBounds
    flickableDirection: Flickable.VerticalFlick
    ScrollBar.vertical: ThinScrollBar {}
    onMovementStarted: follows = false
    onMovementEnded: follows = atYEnd
    Component.onCompleted: follows = root.live
    onContentHeightChanged: settle()
    onHeightChanged: settle()

    Column {
        id: words

        width: root.width - Theme.gapSmall // leaves room for the scroll bar
        spacing: Theme.gapSmall

        Blocks {
            id: blockColumn

            width: parent.width
            visible: root.message.beginning !== ""
            blocks: root.message.blocks
            onCopyRequested: text => root.chat.clipboard.copy(text)
            onLinkRequested: link => root.linkRequested(link)
        }
        WaitingDots {
            visible: root.message.status === MessageModel.Waiting
        }
        Text {
            width: parent.width
            visible: root.message.status === MessageModel.Queued
            text: root.chat.turn.loading ? qsTr("Waits until the model has loaded") : qsTr("Waits for another conversation's answer")
            textFormat: Text.PlainText
            wrapMode: Text.Wrap
            font.pixelSize: Theme.sizeBody
            color: Theme.textMuted
        }
        Notice {
            objectName: "columnNotice"
            width: parent.width
            visible: root.message.status === MessageModel.Failed
            sentence: root.message.sentence
            dismissible: false
        }
    }
}
