// Draws one figure: a quantity over the context, a curve for each strategy.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Layouts
import Spillway.App
import Spillway.Ui.Monitor
import Spillway.Ui.Theme

ColumnLayout {
    id: root

    required property ExperimentRowModel rows
    required property string title
    required property int quantity
    required property int modelPlace
    required property var hidden
    required property var colors

    readonly property alias chart: chart
    property var write: value => Format.three(value) // writes a value with its unit

    function readingsAt(x: var): var {
        if (x === undefined)
            return [];
        const lines = [];
        for (const at of chart.at(x)) {
            if (lines.length === 0)
                lines.push({ name: qsTr("%1 tokens").arg(Format.count(at.contextTokens)), value: "", color: "transparent" });
            const value = at.value === undefined ? Format.unknown : root.write(at.value);
            lines.push({ name: at.name, value: at.earlier === undefined ? value : qsTr("%1 (other run: %2)").arg(value).arg(root.write(at.earlier)),
                         color: root.colors[at.strategy] });
        }
        return lines;
    }

    spacing: Theme.gapTiny

    Text {
        Layout.fillWidth: true
        text: root.title
        textFormat: Text.PlainText
        elide: Text.ElideRight
        font.pixelSize: Theme.sizeSmall
        font.weight: Font.DemiBold
        color: Theme.text
    }
    ChartFrame {
        Layout.fillWidth: true
        implicitHeight: Theme.px(170)
        chart: chart
        name: root.title
        summary: qsTr("The numbers are in the table below")
        emptyText: root.hidden.length > 0 ? qsTr("Choose above what is drawn here") : qsTr("None of this was measured")
        readings: root.readingsAt(chart.cursor)

        ExperimentChart {
            id: chart

            anchors.fill: parent
            title: root.title
            rows: root.rows
            quantity: root.quantity
            model: root.modelPlace
            hidden: root.hidden
            colors: root.colors
            ink: Theme.text
            mutedInk: Theme.textMuted
            grid: Theme.border
            ground: Theme.ground
            fontFamily: Theme.family
            fontPixels: Theme.px(11)
            xText: x => Format.context(Math.round(Math.pow(2, x)))
            yText: y => root.write(y)
        }
    }
}
