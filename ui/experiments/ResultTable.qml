// The rows of a run: the paper's table 1, on this machine. Where it is wider than the page it scrolls sideways.
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
    required property string base // strategy the ratios are to; empty: there is no other

    implicitHeight: flick.implicitHeight

    component Head: Text {
        required property real column

        Layout.minimumWidth: column
        Layout.preferredWidth: column
        Layout.fillWidth: true
        textFormat: Text.PlainText
        horizontalAlignment: Text.AlignRight
        font.pixelSize: Theme.sizeSmall
        color: Theme.textMuted
    }

    StrategyColors {
        id: tones
    }
    ResultColumns {
        id: columns

        strategyNames: root.strategyNames
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
        contentWidth: Math.max(width, head.implicitWidth + 2 * Theme.gapSmall)
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

            RowLayout {
                id: head

                objectName: "resultHead"
                Layout.fillWidth: true
                Layout.leftMargin: Theme.gapSmall
                Layout.rightMargin: Theme.gapSmall
                spacing: Theme.gapSmall

                Head {
                    column: columns.context
                    Layout.fillWidth: false
                    text: qsTr("Context")
                }
                Head {
                    column: columns.strategy + Theme.px(8) + Theme.gapSmall
                    Layout.fillWidth: false
                    horizontalAlignment: Text.AlignLeft
                    text: qsTr("Strategy")
                }
                Head {
                    column: columns.speed
                    text: qsTr("tok/s")
                }
                Head {
                    objectName: "ratioHead"
                    column: columns.ratio
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
                    column: columns.change
                    visible: root.rows.compares
                    text: qsTr("change")
                }
                Head {
                    column: columns.p99
                    text: qsTr("99 %")
                }
                Head {
                    column: columns.reading
                    text: qsTr("reading")
                }
                Head {
                    column: columns.device
                    text: qsTr("device")
                }
                Head {
                    column: columns.host
                    text: qsTr("RAM")
                }
                Head {
                    objectName: "spreadHead"
                    column: columns.spread
                    text: qsTr("from–to")
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
