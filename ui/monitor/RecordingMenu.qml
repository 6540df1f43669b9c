// Saves the flight recorder's measurements to a file, and opens such a file.
import QtQuick
import QtQuick.Dialogs
import Spillway.App
import Spillway.Ui.Components

PopupMenu {
    id: root

    required property PressureMonitor monitor

    property string refusal: "" // why it was not written

    PopupMenuItem {
        objectName: "saveRecording"
        text: qsTr("Save a recording…")
        enabled: root.monitor.canRecord
        onTriggered: saveDialog.open()
    }
    PopupMenuItem {
        objectName: "openRecording"
        text: qsTr("Open a recording…")
        onTriggered: openDialog.open()
    }
    PopupMenuItem {
        objectName: "leaveRecording"
        text: qsTr("Back to now")
        enabled: root.monitor.replaying
        onTriggered: root.monitor.leaveRecording()
    }

    FileDialog {
        id: saveDialog

        title: qsTr("Save a recording")
        acceptLabel: qsTr("Save")
        fileMode: FileDialog.SaveFile
        defaultSuffix: "json"
        nameFilters: [qsTr("Recordings (*.json)")]
        onAccepted: SaveQuestion.before(selectedFile, () => root.refusal = root.monitor.saveRecording(selectedFile), root.parent)
    }
    FileDialog {
        id: openDialog

        title: qsTr("Open a recording")
        fileMode: FileDialog.OpenFile
        nameFilters: [qsTr("Recordings (*.json)"), qsTr("All files (*)")]
        onAccepted: root.monitor.openRecording(selectedFile)
    }
}
