// Where fetched models go, and how fast they may come.
import QtQuick
import QtQuick.Dialogs
import QtQuick.Layouts
import Spillway.App
import Spillway.Ui.Components

ColumnLayout {
    id: root

    required property SettingsController settings

    spacing: 0

    SettingRow {
        objectName: "fetchFolderRow"
        title: qsTr("Fetched models go to")
        explanation: qsTr("A folder of your choice, or else the cache of Hugging Face, where other programs find them; what comes from elsewhere goes to Spillway’s own folder.")
        effective: root.settings.fetchFolder

        IconButton {
            objectName: "usualFetchFolder"
            visible: root.settings.fetchFolder !== ""
            name: qsTr("Where other programs find them")
            source: "qrc:/icons/undo.svg"
            onClicked: root.settings.setFetchFolder("")
        }
        ActionButton {
            objectName: "chooseFetchFolder"
            text: qsTr("Choose…")
            Accessible.name: qsTr("Choose a folder for fetched models")
            icon.source: "qrc:/icons/folder.svg"
            onClicked: dialog.begin()
        }
    }
    NumberRow {
        objectName: "fetchSpeedRow"
        title: qsTr("Speed of fetching at most")
        explanation: qsTr("Leaves the rest of the line to others. It holds at once.")
        setting: root.settings.fetchMegabytesPerS
        suffix: qsTr(" MB/s")
        zeroText: qsTr("no limit")
    }
    FolderDialog {
        id: dialog

        function begin() {
            currentFolder = root.settings.folderOf(SettingsController.Models);
            open();
        }

        title: qsTr("Choose a folder for fetched models")
        onAccepted: root.settings.setFetchFolder(selectedFolder)
    }
}
