// Shows how many of the tokens that were guessed ahead the answers took, and what that brought.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Layouts
import Spillway.App
import Spillway.Ui.Theme

ColumnLayout {
    id: root

    required property PressureMonitor monitor
    property var hidden: []
    readonly property bool any: chart.drafted > 0
    readonly property string share: any ? Format.percent(chart.accepted, chart.drafted) : ""
    readonly property string words: qsTr("%1 of %2 guessed tokens were right.").arg(Format.count(chart.accepted)).arg(Format.count(chart.drafted))
        + (chart.byModel.drafted === 0 ? "" : " " + qsTr("The draft model, which takes %1 of memory, guessed %2 of them, and %3 were right.")
           .arg(Format.bytes(chart.byModel.bytes)).arg(Format.count(chart.byModel.drafted)).arg(Format.count(chart.byModel.accepted)))
        + (chart.byBlock.drafted === 0 ? "" : " " + qsTr("The block for guessing in the model's own file, which takes %1 of memory, guessed %2 of them, and %3 were right.")
           .arg(Format.bytes(chart.byBlock.bytes)).arg(Format.count(chart.byBlock.drafted)).arg(Format.count(chart.byBlock.accepted)))
        + (chart.gain === undefined ? "" : " " + qsTr("The answer is %1 as fast as without them.").arg(Format.ratio(chart.gain)))

    function readingsAt(x: var): var {
        const at = x === undefined ? {} : chart.at(x);
        if (at.contextTokens === undefined)
            return [];
        return [{ name: qsTr("%1 tokens").arg(Format.count(at.contextTokens)), value: "", color: "transparent" },
                { name: at.earlier ? qsTr("Right earlier") : qsTr("Right"),
                  value: qsTr("%1 of %2").arg(Format.count(at.accepted)).arg(Format.count(at.drafted)),
                  color: at.earlier ? Qt.alpha(Theme.accent, 0.4) : Theme.accent }];
    }

    spacing: Theme.gapTiny

    ChartFrame {
        Layout.fillWidth: true
        chart: chart
        name: qsTr("Share of guessed tokens that were right, over context length")
        summary: root.words
        emptyText: qsTr("Choose below what is drawn here")
        readings: root.readingsAt(chart.cursor)

        GuessChart {
            id: chart

            objectName: "guessChart"
            anchors.fill: parent
            monitor: root.monitor
            hidden: root.hidden
            guessedColor: Theme.accent
            ink: Theme.text
            mutedInk: Theme.textMuted
            grid: Theme.border
            ground: Theme.aside
            fontFamily: Theme.family
            fontPixels: Theme.px(11)
            xText: x => Format.compact(x)
            yText: y => Format.percent(y, 100)
        }
    }
    Legend {
        Layout.fillWidth: true
        hidden: root.hidden
        entries: [{ key: "guessed", name: qsTr("This answer"), value: "", color: Theme.accent, hides: true },
                  { key: "earlier", name: qsTr("Earlier"), value: "", color: Qt.alpha(Theme.accent, 0.4), hides: true }]
        onToggled: key => {
            root.hidden = root.hidden.indexOf(key) >= 0 ? root.hidden.filter(one => one !== key) : root.hidden.concat([key]);
        }
    }
    Text {
        objectName: "guessWords"
        Layout.fillWidth: true
        text: root.words
        textFormat: Text.PlainText
        wrapMode: Text.Wrap
        font.pixelSize: Theme.sizeSmall
        color: Theme.textMuted
    }
}
