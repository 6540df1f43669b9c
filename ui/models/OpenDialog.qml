// Asks for a model file.
import QtQuick.Dialogs
import Spillway.App

FileDialog {
    id: root

    required property ModelController models

    title: qsTr("Open a model")
    currentFolder: models.startFolder
    nameFilters: [qsTr("GGUF models (*.gguf)"), qsTr("All files (*)")]
    onAccepted: root.models.open(root.selectedFile)
}
