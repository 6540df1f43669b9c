// Shows the rows of a run as a table. Where it is wider than the page it scrolls sideways.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Controls
import QtQuick.Layouts
import Spillway.App
import Spillway.Ui.Components
import Spillway.Ui.Theme

FocusScope {
    id: root

    required property ExperimentRowModel rows
    required property var strategyNames
    required property string base // strategy that the ratios compare with; empty: there is only one

    implicitHeight: flick.implicitHeight

    // Heads are placed without a layout: Qt 6.4's layouts do not notice that one is shown or hidden while the table is
    // hidden, and use deleted ones when the table's width changes meanwhile.
    readonly property var heads: {
        const all = [
            { name: "contextHead", text: qsTr("Context"), column: columns.context, fixed: true },
            { name: "strategyHead", text: qsTr("Strategy"), column: columns.strategy + Theme.px(8) + Theme.gapSmall, fixed: true, left: true },
            { name: "expertsHead", text: qsTr("experts"), column: columns.experts, fixed: true, left: true, absent: !rows.hasExperts },
            { name: "speedHead", text: qsTr("tok/s"), column: columns.speed },
            { name: "ratioHead", text: qsTr("ratio"), column: columns.ratio, absent: base === "",
                tip: qsTr("Speed as a ratio to “%1”; choose another above the charts").arg(base) },
            { name: "changeHead", text: qsTr("change"), column: columns.change, absent: !rows.compares },
            { name: "p99Head", text: qsTr("99 %"), column: columns.p99 },
            { name: "readingHead", text: qsTr("reading"), column: columns.reading },
            { name: "deviceHead", text: qsTr("device"), column: columns.device },
            { name: "hostHead", text: qsTr("RAM"), column: columns.host },
            { name: "hitsHead", text: qsTr("hits"), column: columns.hits, absent: !rows.hasExperts,
                tip: qsTr("Of the experts in RAM that were read, the share that had a copy on the device") },
            { name: "spreadHead", text: qsTr("from–to"), column: columns.spread }
        ];
        return all.filter(head => !head.absent);
    }
    readonly property real leastWidth: heads.reduce((sum, head) => sum + head.column + Theme.gapSmall, Theme.gapSmall)

    component Head: Text {
        id: title

        required property var modelData

        objectName: modelData.name
        width: modelData.column + (modelData.fixed ? 0 : columns.more)
        text: modelData.text
        textFormat: Text.PlainText
        horizontalAlignment: modelData.left ? Text.AlignLeft : Text.AlignRight
        font.pixelSize: Theme.sizeSmall
        color: Theme.textMuted

        HoverHandler {
            id: over
        }
        Tip {
            visible: over.hovered && text !== ""
            text: title.modelData.tip ?? ""
        }
    }

    StrategyColors {
        id: tones
    }
    ResultColumns {
        id: columns

        strategyNames: root.strategyNames
        more: Math.max(0, flick.width - root.leastWidth) / root.heads.filter(head => !head.fixed).length
        expertNames: root.rows.hasExperts ? root.rows.expertChoices : []
    }
    Flickable {
        id: flick

        readonly property bool wide: contentWidth > width
        readonly property real step: Theme.px(80)

        function by(pixels: real) {
            contentX = Math.max(0, Math.min(contentWidth - width, contentX + pixels));
        }

        objectName: "resultFlick"
        anchors.fill: parent
        implicitHeight: table.implicitHeight + (wide ? Theme.px(14) : 0)
        contentWidth: Math.max(width, root.leastWidth)
        contentHeight: height
        flickableDirection: Flickable.HorizontalFlick
        boundsBehavior: Flickable.StopAtBounds
        interactive: wide
        clip: wide
        focus: true
        activeFocusOnTab: wide || activeFocus
        ScrollBar.horizontal: ThinScrollBar {
            objectName: "resultScrollBar"
            policy: flick.wide ? ScrollBar.AlwaysOn : ScrollBar.AlwaysOff
        }
        Keys.onLeftPressed: by(-step)
        Keys.onRightPressed: by(step)

        SidewaysWheel { view: flick }

        Accessible.role: Accessible.Table
        Accessible.name: qsTr("Measured rows")

        ColumnLayout {
            id: table

            width: flick.contentWidth
            spacing: 0

            Row {
                objectName: "resultHead"
                Layout.leftMargin: Theme.gapSmall
                spacing: Theme.gapSmall

                Repeater {
                    model: root.heads
                    delegate: Head {}
                }
            }
            ListView {
                id: list

                objectName: "resultTable"
                Layout.fillWidth: true
                implicitHeight: contentHeight
                interactive: false
                model: root.rows
                delegate: ResultRow {
                    width: list.width
                    columns: columns
                    sight: flick.width
                    tint: tones.all[strategy]
                    heading: root.rows.models.length > 1 && ListView.section !== ListView.previousSection ? modelTitle : ""
                    compares: root.rows.compares
                    base: root.base
                }
                section.property: "modelTitle"
            }
        }
    }
    FocusRing {
        visible: flick.activeFocus
        radius: Theme.radiusSmall
    }
}
