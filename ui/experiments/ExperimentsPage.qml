// Measures models on this machine: shows the plan, the run, and the results.
import QtQuick
import QtQuick.Layouts
import Spillway.App
import Spillway.Ui.Components
import Spillway.Ui.Theme

Page {
    id: root

    required property ExperimentsController experiments
    required property CatalogueController catalogue

    property bool planning: false
    readonly property bool hasRuns: experiments.runs.length > 0
    readonly property bool planShown: (planning || !hasRuns) && !experiments.busy

    title: qsTr("Experiments")
    actions: [
        ActionButton {
            objectName: "planButton"
            visible: root.hasRuns && !root.experiments.busy
            text: root.planning ? qsTr("Back to the results") : qsTr("New experiment")
            onClicked: root.planning = !root.planning
        }
    ]

    onPlanShownChanged: toTop() // the contents change like those of another page
    onVisibleChanged: {
        if (visible)
            experiments.begin();
    }
    Component.onCompleted: {
        catalogue.begin();
        experiments.begin();
    }

    Connections {
        target: root.catalogue

        function onScanningChanged() {
            root.experiments.begin();
        }
    }
    Connections {
        target: root.experiments

        function onStateChanged() {
            if (root.experiments.busy)
                root.planning = false;
        }
    }

    Notice {
        objectName: "experimentTrouble"
        Layout.fillWidth: true
        visible: root.experiments.trouble !== ""
        sentence: root.experiments.trouble
        onDismissRequested: root.experiments.dismissTrouble()
    }
    // Measuring has to wait: an answer would disturb it, and needs the model that has to be unloaded for it.
    ColumnLayout {
        Layout.fillWidth: true
        visible: root.experiments.state === ExperimentsController.AnswerRuns
        spacing: Theme.gapSmall

        Notice {
            objectName: "answerRuns"
            Layout.fillWidth: true
            kind: Notice.Warning
            dismissible: false
            sentence: qsTr("An answer is being written. Its model has to make room for the measurement.")
        }
        RowLayout {
            Layout.alignment: Qt.AlignRight
            spacing: Theme.gapSmall

            ActionButton {
                objectName: "dontMeasure"
                text: qsTr("Not now")
                onClicked: root.experiments.cancel()
            }
            ActionButton {
                objectName: "stopAnswer"
                text: qsTr("Stop the answer")
                onClicked: root.experiments.stopAndStart()
            }
            ActionButton {
                objectName: "waitForAnswer"
                text: qsTr("Wait for its end")
                onClicked: root.experiments.waitAndStart()
            }
        }
    }
    Text {
        objectName: "experimentsIntroduction"
        Layout.fillWidth: true
        visible: !root.hasRuns && !root.experiments.busy
        text: qsTr("How fast does a model write here, how much memory does it take, and what becomes of both as the conversation grows? Choose what to measure: each row of the table runs in a process of its own, while the model of the conversation makes room.")
        textFormat: Text.PlainText
        wrapMode: Text.Wrap
        font.pixelSize: Theme.sizeBody
        lineHeight: Theme.lineHeight
        color: Theme.textMuted
    }
    RunProgress {
        objectName: "runProgress"
        Layout.fillWidth: true
        visible: root.experiments.busy
        experiments: root.experiments
    }
    PlanCard {
        objectName: "planCard"
        Layout.fillWidth: true
        visible: root.planShown
        experiments: root.experiments
    }
    RunBar {
        objectName: "runChooser"
        Layout.fillWidth: true
        visible: root.hasRuns && !root.planShown
        experiments: root.experiments
        onPictureRequested: file => note(file, charts.save(file, shown.name, facts))
    }
    ResultCharts {
        id: charts

        objectName: "resultCharts"
        Layout.fillWidth: true
        visible: root.hasRuns && !root.planShown && root.experiments.rows.measured
        rows: root.experiments.rows
    }
    ResultTable {
        Layout.fillWidth: true
        Layout.topMargin: Theme.gapSmall
        visible: root.hasRuns && !root.planShown && root.experiments.rows.count > 0
        rows: root.experiments.rows
        strategyNames: charts.names
        base: charts.base
    }
}
