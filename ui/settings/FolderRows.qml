// Shows the folders that are searched for models.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Dialogs
import QtQuick.Layouts
import Spillway.App
import Spillway.Ui.Components
import Spillway.Ui.Theme

ColumnLayout {
    id: root

    required property SettingsController settings

    Layout.fillWidth: true
    spacing: 0

    SettingRow {
        title: qsTr("Model folders")
        explanation: qsTr("Searched for GGUF files, in place and with the folders inside them; other programs' known folders are searched as well.")

        ActionButton {
            objectName: "addFolder"
            text: qsTr("Add…")
            Accessible.name: qsTr("Add a model folder")
            icon.source: "qrc:/icons/folder.svg"
            onClicked: dialog.begin()
        }
    }
    LayoutRepeater {
        model: root.settings.modelFolders
        delegate: RowLayout {
            id: line

            required property string modelData

            Layout.fillWidth: true
            Layout.leftMargin: Theme.gap
            spacing: Theme.gapSmall

            Text {
                Layout.fillWidth: true
                text: line.modelData
                textFormat: Text.PlainText
                elide: Text.ElideMiddle
                font.pixelSize: Theme.sizeBody
                color: Theme.text
            }
            IconButton {
                objectName: "removeFolder"
                name: qsTr("Do not search %1").arg(line.modelData)
                source: "qrc:/icons/close.svg"
                onClicked: root.settings.removeModelFolder(line.modelData)
            }
        }
    }

    FolderDialog {
        id: dialog

        function begin() {
            currentFolder = root.settings.folderOf(SettingsController.Models);
            open();
        }

        title: qsTr("Add a model folder")
        onAccepted: root.settings.addModelFolder(selectedFolder)
    }
}
