// Asks for files to send with a message.
import QtQuick.Dialogs
import Spillway.App

FileDialog {
    id: root

    required property AttachmentModel attachments

    title: qsTr("Attach files")
    fileMode: FileDialog.OpenFiles
    nameFilters: [qsTr("All files (*)"), qsTr("PDF (*.pdf)"), qsTr("Text and Markdown (*.txt *.md *.markdown *.csv *.rst)")]
    onAccepted: root.attachments.add(root.selectedFiles)
}
