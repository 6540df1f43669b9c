// The rows of a run: the paper's table 1, on this machine.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Layouts
import Spillway.App
import Spillway.Ui.Components
import Spillway.Ui.Theme

ColumnLayout {
    id: root

    required property ExperimentRowModel rows
    required property string base // strategy the ratios are to; empty: there is no other

    readonly property int others: 5 + (base !== "" ? 1 : 0) + (rows.compares ? 1 : 0) // columns that are always there
    // A narrow page leaves it out rather than cut it off; how far the repeats lie apart is in the exports, too.
    readonly property bool spreadShown: width - Theme.px(240) >= others * Theme.px(60) + Theme.px(84)

    spacing: 0

    component Head: Text {
        Layout.preferredWidth: 1
        Layout.fillWidth: true
        textFormat: Text.PlainText
        horizontalAlignment: Text.AlignRight
        elide: Text.ElideRight
        font.pixelSize: Theme.sizeSmall
        color: Theme.textMuted
    }

    StrategyColors {
        id: tones
    }
    RowLayout {
        Layout.fillWidth: true
        Layout.leftMargin: Theme.gapSmall
        Layout.rightMargin: Theme.gapSmall
        spacing: Theme.gapSmall

        Head {
            Layout.fillWidth: false
            Layout.preferredWidth: Theme.px(60)
            text: qsTr("Context")
        }
        Head {
            Layout.fillWidth: false
            Layout.preferredWidth: Theme.px(84) + Theme.px(8) + Theme.gapSmall
            horizontalAlignment: Text.AlignLeft
            text: qsTr("Strategy")
        }
        Head { text: qsTr("tok/s") }
        Head {
            objectName: "ratioHead"
            visible: root.base !== ""
            text: qsTr("ratio")

            HoverHandler {
                id: over
            }
            Tip {
                visible: over.hovered
                text: qsTr("Speed as a ratio to “%1”; choose another above the charts").arg(root.base)
            }
        }
        Head {
            objectName: "spreadHead"
            visible: root.spreadShown
            Layout.minimumWidth: Theme.px(84)
            text: qsTr("from–to")
        }
        Head { text: qsTr("99 %") }
        Head { text: qsTr("reading") }
        Head { text: qsTr("device") }
        Head { text: qsTr("RAM") }
        Head {
            visible: root.rows.compares
            text: qsTr("change")
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
            tint: tones.all[strategy]
            heading: root.rows.models.length > 1 && ListView.section !== ListView.previousSection ? modelTitle : ""
            compares: root.rows.compares
            base: root.base
            spreadShown: root.spreadShown
        }
        section.property: "modelTitle"

        Accessible.role: Accessible.Table
        Accessible.name: qsTr("Measured rows")
    }
}
