// Shows the model's speed as the conversation grows, and the numbers of its answers.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Layouts
import Spillway.App
import Spillway.Ui.Theme

ColumnLayout {
    id: root

    required property PressureMonitor monitor
    required property PlacementController placement
    property bool elsewhere: false // a server answers: there are no predictions and no moves
    property var hidden: []
    property bool forecast: false // the chart reaches to the full context
    // Tokens at which the first block leaves; undefined: none does. While a recording is replayed it is the
    // recording's.
    readonly property var spill: monitor.replaying ? monitor.recordedSpill : monitor.recordedSpill ?? placement.forecast.spillTokens
    readonly property var series: [
        { key: "measured", name: qsTr("This answer"), value: "", color: Theme.accent, hides: true },
        { key: "earlier", name: qsTr("Earlier"), value: "", color: Qt.alpha(Theme.accent, 0.4), hides: true },
        { key: "predicted", name: qsTr("Predicted"), value: "", color: Theme.textMuted, hides: true, hollow: true },
        { key: "forecast", name: qsTr("Full context"), value: "", color: Theme.textMuted, hides: true, hollow: true },
        { key: "offloads", name: qsTr("KV to RAM"), value: "", color: Theme.kvOnHost, hides: true },
        { key: "fetches", name: qsTr("KV to the device"), value: "", color: Theme.kvOnDevice, hides: true },
        { key: "layers", name: qsTr("Layers or experts moved"), value: "", color: Theme.weights, hides: true },
        { key: "spill", name: qsTr("Spill point"), value: Format.count(spill ?? 0), color: Theme.watermark, hides: false }
    ]

    readonly property var marks: chart.marks // the kinds of ticks in the chart

    // Says whether the legend names a series or a kind of ticks. Ticks are named once there are any of their kind.
    function named(key: string): bool {
        if (elsewhere)
            return key === "measured" || key === "earlier";
        if (key === "spill")
            return spill !== undefined;
        const tick = key === "offloads" || key === "fetches" || key === "layers";
        return !tick || marks.indexOf(key) >= 0;
    }
    function legend(): var {
        return series.filter(entry => named(entry.key));
    }

    function readingsAt(x: var): var {
        return x === undefined ? [] : linesOf(chart.at(x));
    }
    function linesOf(at: var): var {
        const lines = [];
        if (at.contextTokens !== undefined)
            lines.push({ name: qsTr("%1 tokens").arg(Format.count(at.contextTokens)), value: "", color: "transparent" });
        if (at.measured !== undefined)
            lines.push({ name: at.earlier ? qsTr("Measured earlier") : qsTr("Measured"), value: Format.tokensPerSecond(at.measured),
                         color: at.earlier ? Qt.alpha(Theme.accent, 0.4) : Theme.accent });
        if (at.predicted !== undefined)
            lines.push({ name: qsTr("Predicted"), value: Format.tokensPerSecond(at.predicted), color: Theme.textMuted, hollow: true });
        return lines;
    }

    spacing: Theme.gapTiny

    ChartFrame {
        Layout.fillWidth: true
        chart: chart
        name: qsTr("Tokens per second over context length")
        summary: qsTr("%1 at %2 tokens").arg(Format.tokensPerSecond(root.monitor.tokensPerSecond)).arg(Format.count(root.monitor.contextTokens))
            + (root.spill === undefined ? "" : ". " + qsTr("The first block leaves at %1 tokens").arg(Format.count(root.spill)))
        emptyText: root.legend().some(entry => root.hidden.indexOf(entry.key) >= 0) ? qsTr("Choose below what is drawn here") : qsTr("The next answer draws its speed here")
        readings: root.readingsAt(chart.cursor)

        SpeedChart {
            id: chart

            objectName: "speedChart"
            anchors.fill: parent
            monitor: root.monitor
            placement: root.placement
            hidden: root.hidden
            measuredColor: Theme.accent
            predictedColor: Theme.textMuted
            spillColor: Theme.watermark
            offloadColor: Theme.kvOnHost
            fetchColor: Theme.kvOnDevice
            moveColor: Theme.weights
            ink: Theme.text
            mutedInk: Theme.textMuted
            grid: Theme.border
            ground: Theme.aside
            fontFamily: Theme.family
            fontPixels: Theme.px(11)
            wholeContext: root.forecast
            xText: x => Format.compact(x)
            yText: y => Format.three(y)
        }
    }
    Legend {
        Layout.fillWidth: true
        hidden: root.forecast ? root.hidden : root.hidden.concat(["forecast"])
        entries: root.legend()
        onToggled: key => {
            if (key === "forecast")
                root.forecast = !root.forecast;
            else
                root.hidden = root.hidden.indexOf(key) >= 0 ? root.hidden.filter(one => one !== key) : root.hidden.concat([key]);
        }
    }
    GridLayout {
        Layout.fillWidth: true
        Layout.topMargin: Theme.gapTiny
        columns: 3
        columnSpacing: Theme.gapSmall
        rowSpacing: Theme.gapSmall

        NumberTile {
            objectName: "tileTtft"
            Layout.fillWidth: true
            label: qsTr("First token")
            value: Format.milliseconds(root.monitor.ttftMs)
            history: root.monitor.ttftHistory
            explanation: qsTr("Time from sending to the first word (TTFT); the bars are the answers before")
        }
        NumberTile {
            objectName: "tileTpot"
            Layout.fillWidth: true
            label: qsTr("Per token")
            value: Format.milliseconds(root.monitor.tpotMeanMs)
            note: root.monitor.tpotP99Ms === undefined ? "" : qsTr("half %1, 99 % %2").arg(Format.milliseconds(root.monitor.tpotP50Ms)).arg(Format.milliseconds(root.monitor.tpotP99Ms))
            history: root.monitor.tpotHistory
            explanation: qsTr("Time per written token (TPOT): the mean, and what half and 99 % of the tokens stay below")
        }
        NumberTile {
            objectName: "tilePrefill"
            Layout.fillWidth: true
            label: qsTr("Reading")
            value: Format.tokensPerSecond(root.monitor.prefillTokensPerSecond)
            history: root.monitor.prefillHistory
            explanation: qsTr("Tokens of the prompt read per second (prefill)")
        }
    }
}
