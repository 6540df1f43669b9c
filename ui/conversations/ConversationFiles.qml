// Asks for the files to which conversations are exported and from which they are imported.
import QtQuick
import QtQuick.Dialogs
import Spillway.App
import Spillway.Ui.Components

Item {
    id: root

    required property ConversationsController conversations

    function exportOne(conversation: string, format: int) {
        exportDialog.conversation = conversation;
        exportDialog.ask(format);
    }
    function exportAll(format: int) {
        if (format === ConversationsController.Markdown) {
            folderDialog.begin();
            return;
        }
        exportDialog.conversation = "";
        exportDialog.ask(format);
    }
    function importFile() {
        importDialog.begin();
    }

    FileDialog {
        id: exportDialog

        property string conversation
        property int format

        function ask(which: int) {
            format = which;
            selectedFile = root.conversations.suggestedFile(conversation, which);
            open();
        }

        objectName: "exportDialog"
        title: conversation === "" ? qsTr("Export all conversations") : qsTr("Export the conversation")
        fileMode: FileDialog.SaveFile
        acceptLabel: qsTr("Save")
        defaultSuffix: format === ConversationsController.Json ? "json" : "md"
        nameFilters: format === ConversationsController.Json ? [qsTr("JSON (*.json)")] : [qsTr("Markdown (*.md)")]
        onAccepted: SaveQuestion.before(selectedFile, () => {
            if (conversation === "")
                root.conversations.exportAll(format, selectedFile);
            else
                root.conversations.exportTo(conversation, format, selectedFile);
        }, root)
    }
    FolderDialog {
        id: folderDialog

        property bool begun: false

        function begin() {
            if (!begun)
                currentFolder = root.conversations.suggestedFolder();
            begun = true;
            open();
        }

        objectName: "folderDialog"
        title: qsTr("A folder for the Markdown files")
        onAccepted: root.conversations.exportAll(ConversationsController.Markdown, selectedFolder)
    }
    FileDialog {
        id: importDialog

        property bool begun: false // from the second time on the dialog keeps its last folder

        function begin() {
            if (!begun)
                currentFolder = root.conversations.suggestedFolder();
            begun = true;
            open();
        }

        objectName: "importDialog"
        title: qsTr("Import conversations")
        fileMode: FileDialog.OpenFiles
        nameFilters: [qsTr("Conversations (*.json *.jsonl *.md)"), qsTr("All files (*)")]
        onAccepted: root.conversations.import(selectedFiles)
    }
}
