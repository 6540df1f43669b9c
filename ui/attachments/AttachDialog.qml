// Asks for files to send with a message, first in the folder of the last ones.
import QtQuick.Dialogs
import Spillway.App

FileDialog {
    id: root

    required property AttachmentModel attachments
    required property SettingsController settings

    function begin() {
        currentFolder = settings.folderOf(SettingsController.Attachments);
        open();
    }

    title: qsTr("Attach files")
    fileMode: FileDialog.OpenFiles
    nameFilters: [qsTr("All files (*)"), qsTr("PDF (*.pdf)"), qsTr("Text and Markdown (*.txt *.md *.markdown *.csv *.rst)")]
    onAccepted: {
        root.settings.rememberFolderOf(SettingsController.Attachments, root.selectedFile);
        root.attachments.add(root.selectedFiles);
    }
}
