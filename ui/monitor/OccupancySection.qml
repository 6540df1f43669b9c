// Shows what lies in one memory, as a chart with its numbers.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Layouts
import Spillway.App
import Spillway.Ui.Theme

ColumnLayout {
    id: root

    required property PressureMonitor monitor
    required property PlacementController placement
    required property int memory // OccupancyChart.Device, Host
    required property int axis   // OccupancyChart.Tokens, Time

    readonly property bool ofDevice: memory === OccupancyChart.Device
    readonly property memoryReading now: ofDevice ? monitor.device : monitor.host
    readonly property color kvColor: ofDevice ? Theme.kvOnDevice : Theme.kvOnHost
    readonly property bool hasStates: now.state > 0 // most models have no recurrent layer
    readonly property bool hasCopies: now.experts > 0
    property var hidden: ofDevice ? [] : ["others"] // in RAM other programs' part would dwarf our own

    function entry(key: string, name: string, bytes: real, color: color): var {
        return { key: key, name: name, value: Format.bytes(bytes), color: color, hides: key !== "free" };
    }
    function readingsAt(x: var): var {
        return x === undefined ? [] : lines(chart.at(x));
    }
    function lines(at: var): var {
        if (at.x === undefined)
            return [];
        const place = root.axis === OccupancyChart.Time ? Format.seconds(at.x) : qsTr("%1 tokens").arg(Format.count(at.x));
        const copies = at.experts > 0 ? [{ name: qsTr("Copies of experts"), value: Format.bytes(at.experts), color: Theme.experts }] : [];
        const states = at.state > 0 ? [{ name: qsTr("States"), value: Format.bytes(at.state), color: Theme.state }] : [];
        return [{ name: place, value: "", color: "transparent" },
                { name: qsTr("Weights"), value: Format.bytes(at.weights), color: Theme.weights },
                ...copies,
                { name: qsTr("KV"), value: Format.bytes(at.kv), color: root.kvColor },
                ...states,
                { name: qsTr("Scratch"), value: Format.bytes(at.scratch), color: Theme.scratch },
                { name: qsTr("Other programs"), value: Format.bytes(at.others), color: Theme.otherPrograms }];
    }

    // Says, while a line is dragged, what letting go would bring. It is on the card, since a line of text would move
    // all that is below.
    function chosenBy(bytes: real, budget: var): var {
        const choice = { name: qsTr("Let go to choose %1").arg(Format.bytes(bytes)), value: "",
                         color: budget === undefined ? Theme.watermark : Theme.text };
        const then = budget === undefined ? { known: false } : root.placement.forecast.previewBudget(Math.max(1, budget));
        if (!then.known)
            return [choice];
        const layers = { name: qsTr("Layers on the device"), value: Format.count(then.layers), color: "transparent" };
        if (then.spillTokens === undefined)
            return [choice, layers];
        return [choice, layers, { name: qsTr("First block leaves at"), value: qsTr("%1 tokens").arg(Format.count(then.spillTokens)),
                                  color: "transparent" }];
    }

    spacing: Theme.gapTiny

    ChartFrame {
        Layout.fillWidth: true
        chart: chart
        name: root.ofDevice ? qsTr("Memory of the device %1").arg(root.monitor.deviceName) : qsTr("RAM")
        summary: qsTr("Weights %1, KV %2, scratch %3, other programs %4, free %5")
            .arg(Format.bytes(root.now.weights)).arg(Format.bytes(root.now.kv)).arg(Format.bytes(root.now.scratch))
            .arg(Format.bytes(root.now.others)).arg(Format.bytes(root.now.free))
            + (root.hasCopies ? ", " + qsTr("copies of experts %1").arg(Format.bytes(root.now.experts)) : "")
            + (root.hasStates ? ", " + qsTr("states of recurrent layers %1").arg(Format.bytes(root.now.state)) : "")
        emptyText: qsTr("Nothing was measured yet")
        readings: chart.draggedBytes === undefined ? root.readingsAt(chart.cursor) : root.chosenBy(chart.draggedBytes, chart.draggedBudget)

        OccupancyChart {
            id: chart

            objectName: root.ofDevice ? "deviceChart" : "hostChart"
            anchors.fill: parent
            monitor: root.monitor
            memory: root.memory
            axis: root.axis
            hidden: root.hidden
            draggable: root.ofDevice && root.monitor.hasModel && !root.monitor.replaying
            colors: [Theme.weights, Theme.experts, root.kvColor, Theme.state, Theme.scratch, Theme.otherPrograms]
            budgetColor: Theme.text
            watermarkColor: Theme.watermark
            ink: Theme.text
            mutedInk: Theme.textMuted
            grid: Theme.border
            ground: Theme.aside
            fontFamily: Theme.family
            fontPixels: Theme.px(11)
            xText: x => root.axis === OccupancyChart.Time ? Format.seconds(x) : Format.compact(x)
            yText: y => y === 0 ? "0" : Format.bytes(y)
            onBudgetChosen: bytes => root.placement.setBudget(Math.max(1, bytes)) // 0 would mean no limit
            onWatermarkChosen: bytes => root.placement.setWatermark(bytes / Math.max(1, root.now.budget))
        }
    }
    Legend {
        Layout.fillWidth: true
        hidden: root.hidden
        entries: [root.entry("weights", qsTr("Weights"), root.now.weights, Theme.weights),
                  ...(root.hasCopies ? [root.entry("experts", qsTr("Copies of experts"), root.now.experts, Theme.experts)] : []),
                  root.entry("kv", qsTr("KV"), root.now.kv, root.kvColor),
                  ...(root.hasStates ? [root.entry("state", qsTr("States"), root.now.state, Theme.state)] : []),
                  root.entry("scratch", qsTr("Scratch"), root.now.scratch, Theme.scratch),
                  root.entry("others", qsTr("Other programs"), root.now.others, Theme.otherPrograms),
                  root.entry("free", qsTr("Free"), root.now.free, "transparent")]
        onToggled: key => {
            root.hidden = root.hidden.indexOf(key) >= 0 ? root.hidden.filter(one => one !== key) : root.hidden.concat([key]);
        }
    }
}
