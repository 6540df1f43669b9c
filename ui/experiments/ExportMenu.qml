// Offers to save a run: its table as CSV or JSON, its figures as a picture.
import QtQuick
import QtQuick.Dialogs
import Spillway.App
import Spillway.Ui.Components

PopupMenu {
    id: root

    required property ExperimentsController experiments
    readonly property string words: qsTr("Export “%1”").arg(experiments.shown.name)

    signal tableRequested(url file)
    signal pictureRequested(url file)

    PopupMenuItem {
        objectName: "exportCsv"
        text: qsTr("Table as CSV…")
        onTriggered: csvDialog.ask(root.experiments.suggestedFile(csvDialog.suffix))
    }
    PopupMenuItem {
        objectName: "exportJson"
        text: qsTr("Table as JSON…")
        onTriggered: jsonDialog.ask(root.experiments.suggestedFile(jsonDialog.suffix))
    }
    PopupMenuItem {
        objectName: "exportPng"
        enabled: root.experiments.rows.measured
        text: qsTr("Figures as PNG…")
        onTriggered: pngDialog.ask(root.experiments.suggestedFile(pngDialog.suffix))
    }
    PopupMenuItem {
        objectName: "exportSvg"
        enabled: root.experiments.rows.measured
        text: qsTr("Figures as SVG…")
        onTriggered: svgDialog.ask(root.experiments.suggestedFile(svgDialog.suffix))
    }

    component Save: FileDialog {
        required property string suffix

        function ask(suggestion: url) {
            selectedFile = suggestion;
            open();
        }

        acceptLabel: qsTr("Save")
        fileMode: FileDialog.SaveFile
        defaultSuffix: suffix
        nameFilters: [qsTr("%1 files (*.%2)").arg(suffix.toUpperCase()).arg(suffix)]
    }

    Save {
        id: csvDialog

        title: root.words
        suffix: "csv"
        onAccepted: SaveQuestion.before(selectedFile, () => root.tableRequested(selectedFile), root.parent)
    }
    Save {
        id: jsonDialog

        title: root.words
        suffix: "json"
        onAccepted: SaveQuestion.before(selectedFile, () => root.tableRequested(selectedFile), root.parent)
    }
    Save {
        id: pngDialog

        title: root.words
        suffix: "png"
        onAccepted: SaveQuestion.before(selectedFile, () => root.pictureRequested(selectedFile), root.parent)
    }
    Save {
        id: svgDialog

        title: root.words
        suffix: "svg"
        onAccepted: SaveQuestion.before(selectedFile, () => root.pictureRequested(selectedFile), root.parent)
    }
}
