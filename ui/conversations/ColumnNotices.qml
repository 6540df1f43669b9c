// Says what has just happened to conversations, and offers to take it back.
import QtQuick
import QtQuick.Layouts
import Spillway.App
import Spillway.Ui.Theme

ColumnLayout {
    id: root

    required property ConversationsController conversations

    spacing: Theme.gapSmall

    ColumnNotice {
        objectName: "importNotice"
        Layout.fillWidth: true
        visible: root.conversations.importing
        sentence: qsTr("Conversations are being imported…")
        actionText: qsTr("Cancel")
        dismissible: false
        onActionRequested: root.conversations.cancelImport()
    }
    ColumnNotice {
        objectName: "sentenceNotice"
        Layout.fillWidth: true
        visible: root.conversations.sentence !== ""
        sentence: root.conversations.sentence
        error: root.conversations.sentenceIsError
        onDismissRequested: root.conversations.dismissSentence()

        // A sentence that is no error disappears by itself.
        Timer {
            running: root.conversations.sentence !== "" && !root.conversations.sentenceIsError
            interval: 6000
            onTriggered: root.conversations.dismissSentence()
        }
    }
    ColumnNotice {
        objectName: "undoNotice"
        Layout.fillWidth: true
        visible: root.conversations.canUndo
        sentence: root.conversations.undoIsFolder ? qsTr("Folder removed, its conversations stay") : root.conversations.undoTitle === "" ? qsTr("The conversation was deleted") : qsTr("Deleted")
        subject: root.conversations.undoTitle
        actionText: qsTr("Undo")
        actionTip: qsTr("Ctrl+Z")
        onActionRequested: root.conversations.undo()
        onDismissRequested: root.conversations.dismissUndo()
    }
}
