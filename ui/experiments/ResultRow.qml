// Shows a row of the table: its numbers, or the sentence why there are none.
import QtQuick
import Spillway.App
import Spillway.Ui.Components
import Spillway.Ui.Theme

Item {
    id: root

    required property int index
    required property string modelTitle
    required property int contextTokens
    required property int strategy
    required property string strategyName
    required property int outcome
    required property string outcomeName
    required property string sentence
    required property var tokensPerSecond
    required property var slowest
    required property var fastest
    required property var readMs
    required property var p99Ms
    required property var deviceBytes
    required property var hostBytes
    required property var earlierTokensPerSecond
    required property var ratio // of its speed to another strategy's
    required property string expertsName // where the experts lay; empty: no experts, or no device
    required property var hitRate        // share of reads of experts in RAM that had a copy

    required property ResultColumns columns

    property real sight: width           // visible width: a table may be wider than the page
    property color tint: Theme.textMuted // colour of the strategy
    property bool compares: false
    property string base: "" // strategy that the ratio compares with; empty: there is only one
    property string heading: "" // above the first row of a model

    readonly property bool measured: outcome === Outcome.Measured
    readonly property string change: {
        if (earlierTokensPerSecond === undefined || !measured)
            return Format.unknown;
        const percent = Math.round(100 * (tokensPerSecond / earlierTokensPerSecond - 1));
        return (percent > 0 ? "+" : "") + qsTr("%1 %").arg(Format.count(percent));
    }

    implicitHeight: body.height + (heading === "" ? 0 : title.height)

    Accessible.role: Accessible.Row
    Accessible.name: {
        const cell = Format.filled(qsTr("%1, %2 tokens, %3"), [modelTitle, Format.count(contextTokens), strategyName]);
        const place = expertsName === "" ? cell : Format.filled(qsTr("%1, experts %2"), [cell, expertsName]);
        if (!measured)
            return Format.filled(qsTr("%1: %2. %3"), [place, outcomeName, sentence]);
        const device = deviceBytes === undefined ? Format.unknown : Format.bytes(deviceBytes);
        const host = hostBytes === undefined ? Format.unknown : Format.bytes(hostBytes);
        const numbers = Format.filled(qsTr("%1: %2, 99 % of the tokens within %3, device %4, RAM %5"),
                                      [place, Format.tokensPerSecond(tokensPerSecond), Format.milliseconds(p99Ms), device, host]);
        const found = hitRate === undefined ? numbers : Format.filled(qsTr("%1, %2 of the experts read had a copy"), [numbers, Format.percent(hitRate, 1)]);
        return base === "" || ratio === undefined ? found : Format.filled(qsTr("%1, %2 of “%3”"), [found, Format.ratio(ratio), base]);
    }

    component Cell: Text {
        required property real column

        anchors.verticalCenter: parent?.verticalCenter
        width: column
        textFormat: Text.PlainText
        horizontalAlignment: Text.AlignRight
        elide: Text.ElideRight
        font.pixelSize: Theme.sizeSmall
        color: Theme.text
        Accessible.ignored: true
    }

    SectionHeading {
        id: title

        width: parent.width
        visible: root.heading !== ""
        text: root.heading
    }
    Item {
        id: body

        anchors.bottom: parent.bottom
        width: parent.width
        height: Math.max(Theme.px(30), line.implicitHeight + Theme.gapTiny)

        Rectangle {
            anchors.fill: parent
            visible: root.index % 2 === 1
            color: Theme.sunken
            radius: Theme.px(4)
            opacity: 0.6
        }
        Row {
            id: line

            anchors.left: parent.left
            anchors.leftMargin: Theme.gapSmall
            anchors.verticalCenter: parent.verticalCenter
            spacing: Theme.gapSmall

            Cell {
                objectName: "rowContext"
                column: root.columns.context
                text: Format.context(root.contextTokens)
            }
            Rectangle {
                anchors.verticalCenter: parent.verticalCenter
                width: Theme.px(8)
                height: width
                radius: 2
                color: root.tint
            }
            Cell {
                objectName: "rowStrategy"
                column: root.columns.strategy
                horizontalAlignment: Text.AlignLeft
                text: root.strategyName
            }
            Cell {
                objectName: "rowExperts"
                column: root.columns.experts
                visible: root.columns.experts > 0
                horizontalAlignment: Text.AlignLeft
                text: root.expertsName === "" ? Format.unknown : root.expertsName
            }
            Text {
                objectName: "rowSentence"
                anchors.verticalCenter: parent.verticalCenter
                width: root.sight - root.columns.before - Theme.gapSmall
                visible: !root.measured
                text: root.sentence
                textFormat: Text.PlainText
                wrapMode: Text.Wrap
                font.pixelSize: Theme.sizeSmall
                color: root.outcome === Outcome.Refused || root.outcome === Outcome.Cancelled ? Theme.warning : Theme.danger
                Accessible.ignored: true
            }
            Cell {
                objectName: "rowSpeed"
                column: root.columns.speed + root.columns.more
                visible: root.measured
                font.weight: Font.Medium
                text: root.measured ? Format.three(root.tokensPerSecond) : ""
            }
            Cell {
                objectName: "rowRatio"
                column: root.columns.ratio + root.columns.more
                visible: root.measured && root.base !== ""
                text: Format.ratio(root.ratio)
            }
            Cell {
                objectName: "rowChange"
                column: root.columns.change + root.columns.more
                visible: root.measured && root.compares
                text: root.change
            }
            Cell {
                objectName: "rowP99"
                column: root.columns.p99 + root.columns.more
                visible: root.measured
                text: Format.milliseconds(root.p99Ms)
            }
            Cell {
                objectName: "rowReading"
                column: root.columns.reading + root.columns.more
                visible: root.measured
                text: Format.milliseconds(root.readMs)
            }
            Cell {
                objectName: "rowDevice"
                column: root.columns.device + root.columns.more
                visible: root.measured
                text: root.deviceBytes === undefined ? Format.unknown : Format.bytes(root.deviceBytes)
            }
            Cell {
                objectName: "rowHost"
                column: root.columns.host + root.columns.more
                visible: root.measured
                text: root.hostBytes === undefined ? Format.unknown : Format.bytes(root.hostBytes)
            }
            Cell {
                objectName: "rowHits"
                column: root.columns.hits + root.columns.more
                visible: root.measured && root.columns.experts > 0
                text: root.hitRate === undefined ? Format.unknown : Format.percent(root.hitRate, 1)
            }
            Cell {
                objectName: "rowSpread"
                column: root.columns.spread + root.columns.more
                visible: root.measured
                color: Theme.textMuted
                text: root.slowest === undefined ? Format.unknown : Format.three(root.slowest) + "–" + Format.three(root.fastest)
            }
        }
    }
}
