// The columns of the window and what works everywhere in it: shortcuts, dropping a file, questions before a loss.
import QtQuick
import QtQuick.Layouts
import Spillway.App
import Spillway.Ui.Chat
import Spillway.Ui.Components
import Spillway.Ui.Models

FocusScope {
    id: root

    required property ChatController chat
    required property ModelController models
    required property SettingsController settings

    function openModel() {
        openDialog.open();
    }

    function startOver() {
        if (chat.messages.count > 0)
            confirmNew.open();
    }

    OpenDialog {
        id: openDialog

        objectName: "openDialog"
        models: root.models
    }

    ConfirmDialog {
        id: confirmNew

        objectName: "confirmNew"
        question: qsTr("Start a new conversation?")
        detail: qsTr("This one is not saved and will be gone.")
        confirmText: qsTr("Start new")
        onConfirmed: {
            root.chat.newConversation();
            page.takeFocus();
        }
        onClosed: page.takeFocus()
    }

    Shortcut {
        sequences: [StandardKey.Open] // qmllint disable unqualified
        onActivated: root.openModel()
    }
    Shortcut {
        sequences: [StandardKey.New] // qmllint disable unqualified
        onActivated: root.startOver()
    }
    Shortcut {
        sequences: [StandardKey.Cancel] // qmllint disable unqualified
        enabled: root.chat.busy && !confirmNew.opened
        onActivated: root.chat.stop()
    }

    ColumnLayout {
        anchors.fill: parent
        spacing: 0

        TopBar {
            objectName: "topBar"
            Layout.fillWidth: true
            models: root.models
            chat: root.chat
            settings: root.settings
            onOpenRequested: root.openModel()
            onNewRequested: root.startOver()
        }

        // Columns: the conversations will come before the page, the pressure panel after it.
        RowLayout {
            Layout.fillWidth: true
            Layout.fillHeight: true
            spacing: 0

            ChatPage {
                id: page

                objectName: "chatPage"
                Layout.fillWidth: true
                Layout.fillHeight: true
                Layout.minimumWidth: 400
                focus: true
                chat: root.chat
                models: root.models
                onOpenRequested: root.openModel()
                onNewRequested: root.startOver()
            }
        }
    }

    DropOverlay {
        objectName: "dropOverlay"
        anchors.fill: parent
        models: root.models
    }
}
