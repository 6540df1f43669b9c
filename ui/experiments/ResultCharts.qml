// Shows the figures of one model of a run.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Layouts
import Spillway.App
import Spillway.Ui.Components
import Spillway.Ui.Monitor
import Spillway.Ui.Theme

ColumnLayout {
    id: root

    required property ExperimentRowModel rows

    /// Saves all figures as one picture: a PNG or an SVG, by the file's suffix. Returns a sentence if that fails.
    function save(file: url, title: string, note: string): string {
        const model = rows.models.length > 1 ? Format.also(title, rows.models[modelPlace]) : title;
        sheet.title = placesExperts ? Format.also(model, qsTr("experts %1").arg(expertChoices[rows.chartedExperts])) : model;
        sheet.note = note;
        return sheet.save(file);
    }

    property var hidden: []
    property bool perSpeed: false
    property bool asRatio: false
    property int modelPlace: 0
    readonly property var names: [qsTr("CPU only"), qsTr("Resident"), qsTr("Stream"), qsTr("Merge"), qsTr("Auto"), qsTr("CPU decode")]
    readonly property var strategies: rows.strategies
    readonly property var expertChoices: rows.expertChoices
    readonly property bool placesExperts: rows.hasExperts && expertChoices.length > 1
    readonly property string base: rows.strategies.length > 1 ? names[rows.base] : "" // which the ratios compare with
    readonly property var entries: {
        const all = rows.chartedStrategies.map(strategy => ({ key: String(strategy), name: root.names[strategy], value: "", color: tones.all[strategy], hides: true }));
        return rows.compares ? all.concat([{ key: "earlier", name: qsTr("The other run, dashed"), value: "", color: "transparent", hides: true }]) : all;
    }

    spacing: Theme.gapSmall

    component Figure: ResultChart {
        Layout.fillWidth: true
        Layout.preferredWidth: 1 // all columns have the same width
        rows: root.rows
        modelPlace: root.modelPlace
        hidden: root.hidden
        colors: tones.all
    }

    ExperimentSheet {
        id: sheet

        figures: [speedFigure.chart, p99Figure.chart, deviceFigure.chart, hostFigure.chart]
    }
    StrategyColors {
        id: tones
    }
    Connections {
        target: root.rows

        function onModelReset() {
            root.modelPlace = 0;
            root.hidden = [];
            root.asRatio = false;
        }
    }
    RowLayout {
        Layout.fillWidth: true
        spacing: Theme.gapSmall

        ChoiceBox {
            objectName: "chartModel"
            Layout.fillWidth: true
            visible: root.rows.models.length > 1
            name: qsTr("Model in the charts")
            model: root.rows.models
            chosen: root.modelPlace
            onActivated: index => root.modelPlace = index
        }
        ChoiceBox {
            objectName: "chartExperts"
            Layout.fillWidth: true
            Layout.maximumWidth: Theme.px(260)
            visible: root.placesExperts
            name: qsTr("Experts in the charts")
            model: root.expertChoices.map(choice => qsTr("experts %1").arg(choice))
            chosen: root.rows.chartedExperts
            onActivated: index => root.rows.chartedExperts = index
        }
        ChoiceBox {
            objectName: "speedAs"
            Layout.fillWidth: true
            Layout.maximumWidth: Theme.px(260)
            visible: root.strategies.length > 1
            name: qsTr("Speed in the charts")
            model: {
                const kinds = root.strategies.map(strategy => qsTr("Ratio to “%1”").arg(root.names[strategy]));
                kinds.unshift(qsTr("Tokens per second"));
                return kinds;
            }
            chosen: root.asRatio ? 1 + root.strategies.indexOf(root.rows.base) : 0
            onActivated: index => {
                root.asRatio = index > 0;
                if (index > 0)
                    root.rows.base = root.strategies[index - 1];
            }
        }
        Item {
            Layout.fillWidth: true
        }
        ChoiceBar {
            objectName: "memoryPer"
            Layout.alignment: Qt.AlignRight
            name: qsTr("Memory")
            choices: [qsTr("Memory"), qsTr("per tok/s")]
            current: root.perSpeed ? 1 : 0
            onChosen: choice => root.perSpeed = choice === 1
        }
    }
    Legend {
        Layout.fillWidth: true
        hidden: root.hidden
        entries: root.entries
        onToggled: key => root.hidden = root.hidden.indexOf(key) >= 0 ? root.hidden.filter(one => one !== key) : root.hidden.concat([key])
    }
    GridLayout {
        Layout.fillWidth: true
        columns: root.width >= Theme.px(560) ? 2 : 1
        columnSpacing: Theme.gap
        rowSpacing: Theme.gap

        Figure {
            id: speedFigure

            objectName: "speedFigure"
            title: root.asRatio ? qsTr("Speed, as a ratio to “%1”").arg(root.base) : qsTr("Tokens per second")
            quantity: root.asRatio ? ExperimentChart.SpeedRatio : ExperimentChart.Speed
            write: value => root.asRatio ? Format.ratio(value) : Format.three(value)
        }
        Figure {
            id: p99Figure

            objectName: "p99Figure"
            title: qsTr("Time per token, 99 % stay below")
            quantity: ExperimentChart.P99
            write: value => Format.milliseconds(value)
        }
        Figure {
            id: deviceFigure

            objectName: "deviceFigure"
            title: root.rows.emulated ? qsTr("Peak memory of the emulated device") : qsTr("Peak device memory")
            quantity: root.perSpeed ? ExperimentChart.DeviceMemoryPerSpeed : ExperimentChart.DeviceMemory
            write: value => Format.bytes(value)
        }
        Figure {
            id: hostFigure

            objectName: "hostFigure"
            title: root.rows.emulated ? qsTr("Peak RAM, including the emulated device") : qsTr("Peak RAM")
            quantity: root.perSpeed ? ExperimentChart.HostMemoryPerSpeed : ExperimentChart.HostMemory
            write: value => Format.bytes(value)
        }
    }
}
