// Asks for a model file, first in the folder of the last one.
import QtQuick.Dialogs
import Spillway.App

FileDialog {
    id: root

    required property ModelController models
    required property SettingsController settings

    function begin() {
        currentFolder = settings.folderOf(SettingsController.Models);
        open();
    }

    title: qsTr("Open a model")
    nameFilters: [qsTr("GGUF models (*.gguf)"), qsTr("All files (*)")]
    onAccepted: {
        root.settings.rememberFolderOf(SettingsController.Models, root.selectedFile);
        root.models.open(root.selectedFile);
    }
}
