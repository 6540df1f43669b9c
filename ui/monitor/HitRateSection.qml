// Shows the share of experts read that have a copy on the device, as the conversation grows.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Layouts
import Spillway.App
import Spillway.Ui.Theme

ColumnLayout {
    id: root

    required property PressureMonitor monitor

    property var hidden: []
    readonly property bool present: chart.measured || monitor.device.experts > 0 // most placements have no copies
    property var newest: ({})
    readonly property string now: newest.share === undefined ? "" : Format.percent(newest.share, 1)
    readonly property var series: [
        { key: "measured", name: qsTr("This answer"), value: "", color: Theme.experts, hides: true },
        { key: "earlier", name: qsTr("Earlier"), value: "", color: Qt.alpha(Theme.experts, 0.4), hides: true }
    ]

    function readingsAt(x: var): var {
        return x === undefined ? [] : linesOf(chart.at(x));
    }
    function linesOf(at: var): var {
        if (at.contextTokens === undefined)
            return [];
        return [{ name: qsTr("%1 tokens").arg(Format.count(at.contextTokens)), value: "", color: "transparent" },
                { name: at.earlier ? qsTr("Found earlier") : qsTr("Found"), value: Format.percent(at.share, 1),
                  color: at.earlier ? Qt.alpha(Theme.experts, 0.4) : Theme.experts },
                { name: "", value: qsTr("%1 of %2").arg(Format.count(at.hits)).arg(Format.count(at.hits + at.misses)), color: "transparent" }];
    }

    Connections {
        target: root.monitor

        function onChanged() {
            root.newest = chart.newest();
        }
    }

    spacing: Theme.gapTiny

    ChartFrame {
        Layout.fillWidth: true
        chart: chart
        name: qsTr("Experts found on the device, in per cent, over context length")
        summary: root.now === "" ? qsTr("Nothing is measured yet") : qsTr("%1 at %2 tokens").arg(root.now).arg(Format.count(root.newest.contextTokens ?? 0))
        readings: root.readingsAt(chart.cursor)

        HitRateChart {
            id: chart

            objectName: "hitRateChart"
            anchors.fill: parent
            monitor: root.monitor
            hidden: root.hidden
            hitColor: Theme.experts
            ink: Theme.text
            mutedInk: Theme.textMuted
            grid: Theme.border
            ground: Theme.aside
            fontFamily: Theme.family
            fontPixels: Theme.px(11)
            xText: x => Format.compact(x)
            yText: y => Format.unbroken(qsTr("%1 %").arg(Format.count(y)))
        }
    }
    Legend {
        Layout.fillWidth: true
        hidden: root.hidden
        entries: root.series
        onToggled: key => {
            root.hidden = root.hidden.indexOf(key) >= 0 ? root.hidden.filter(one => one !== key) : root.hidden.concat([key]);
        }
    }
}
