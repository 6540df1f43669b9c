// Says why a message is not finished, and what can be done about it.
import QtQuick
import QtQuick.Layouts
import Spillway.App
import Spillway.Ui.Components
import Spillway.Ui.Theme

RowLayout {
    id: root

    required property ChatController chat
    required property var message // the delegate, with the roles of MessageModel
    required property bool last

    readonly property bool failed: message.status === MessageModel.Failed
    readonly property bool queued: message.status === MessageModel.Queued
    readonly property bool wanted: failed || queued || message.unanswered

    signal leaveRequested // the button vanishes, so the keyboard should go elsewhere

    spacing: Theme.gapSmall

    Notice {
        objectName: "answerNotice"
        Layout.fillWidth: true
        visible: root.failed
        sentence: root.message.sentence
        dismissible: false
        actionText: !root.last || !root.chat.turn.canSend || root.chat.context.tooLongTokens !== 0 ? ""
                  : root.message.canContinue ? qsTr("Go on") : qsTr("Try again")
        onActionRequested: {
            root.leaveRequested();
            if (root.message.canContinue)
                root.chat.turn.continueAnswer(root.message.messageId);
            else
                root.chat.turn.retry();
        }
    }
    Text {
        objectName: "queuedText"
        Layout.fillWidth: true
        visible: root.queued
        text: root.chat.turn.loading ? qsTr("Waits until the model has loaded")
            : root.chat.turn.queuePosition <= 1 ? qsTr("Waits for another conversation's answer")
            : qsTr("Waits for the answers of %1 conversations").arg(Format.count(root.chat.turn.queuePosition))
        textFormat: Text.PlainText
        wrapMode: Text.Wrap
        font.pixelSize: Theme.sizeBody
        color: Theme.textMuted

        Accessible.role: Accessible.StaticText
        Accessible.name: text
    }
    Item {
        Layout.fillWidth: true
        visible: root.message.unanswered
    }
    Text {
        visible: root.message.unanswered
        text: qsTr("Not answered")
        textFormat: Text.PlainText
        font.pixelSize: Theme.sizeSmall
        color: Theme.textMuted
    }
    ActionButton {
        objectName: "answerButton"
        visible: root.message.unanswered
        enabled: root.chat.turn.canSend
        text: qsTr("Answer")
        onClicked: {
            root.leaveRequested();
            root.chat.turn.retry();
        }
    }
}
