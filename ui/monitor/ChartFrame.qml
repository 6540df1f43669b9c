// Frames a chart with the parts that all charts have: the keyboard, the ring around it, and a card with the numbers
// under the pointer.
pragma ComponentBehavior: Bound

import QtQuick
import Spillway.App
import Spillway.Ui.Components
import Spillway.Ui.Theme

FocusScope {
    id: root

    required property ChartItem chart // the chart, placed in this frame
    required property string name     // read aloud
    property string summary: ""       // what the chart shows, in words
    property string emptyText: ""     // why the chart shows nothing
    property var readings: []         // { name, value, color, hollow } under the pointer
    default property alias content: slot.data

    // The chart is higher where it is wider.
    implicitHeight: Math.max(Theme.px(150), Math.min(Theme.px(300), Math.round(width * 0.42)))
    activeFocusOnTab: true

    Accessible.role: Accessible.Chart
    Accessible.name: root.name
    Accessible.description: chart.empty && root.emptyText !== "" ? root.emptyText : root.summary
    Accessible.focusable: true

    Keys.onPressed: event => {
        if (event.matches(StandardKey.Copy))
            chart.copyPicture();
        else if (event.key === Qt.Key_Plus || event.key === Qt.Key_Equal)
            chart.zoom(1.5);
        else if (event.key === Qt.Key_Minus)
            chart.zoom(1 / 1.5);
        else if (event.key === Qt.Key_Left && chart.zoomed)
            chart.pan(-0.2);
        else if (event.key === Qt.Key_Right && chart.zoomed)
            chart.pan(0.2);
        else if (event.key === Qt.Key_Home)
            chart.resetZoom();
        else
            return;
        event.accepted = true;
    }

    Item {
        id: slot

        anchors.fill: parent
    }
    Text {
        objectName: "emptyText"
        anchors.centerIn: parent
        width: Math.min(implicitWidth, parent.width - 2 * Theme.gap)
        visible: root.chart.empty && text !== ""
        text: root.emptyText
        textFormat: Text.PlainText
        wrapMode: Text.Wrap
        horizontalAlignment: Text.AlignHCenter
        font.pixelSize: Theme.sizeSmall
        color: Theme.textMuted
        Accessible.ignored: true // the frame's own name and description say it
    }
    FocusRing {
        visible: root.activeFocus && root.Window.window && root.Window.window.activeFocusItem === root
        gap: 0
    }
    IconButton {
        objectName: "resetZoom"
        anchors.right: parent.right
        anchors.top: parent.top
        visible: root.chart.zoomed
        size: Theme.px(26)
        pictureSize: Theme.px(16)
        name: qsTr("Show all of it")
        shortcutText: qsTr("Home")
        source: "qrc:/icons/unfold.svg"
        onClicked: root.chart.resetZoom()
    }
    // The numbers under the pointer, on the other side of the chart.
    Rectangle {
        objectName: "readings"
        visible: root.readings.length > 0
        anchors.top: parent.top
        x: root.chart.pointerX > root.width / 2 ? Theme.px(44) : root.width - width - Theme.gapTiny
        width: card.implicitWidth + 2 * Theme.gapSmall
        height: card.implicitHeight + 2 * Theme.gapTiny
        radius: Theme.px(6)
        color: Qt.alpha(Theme.raised, 0.94)
        border.width: 1
        border.color: Theme.border
        Accessible.ignored: true

        Column {
            id: card

            x: Theme.gapSmall
            y: Theme.gapTiny

            Repeater {
                model: root.readings.length // a number: the lines are kept when their values change
                delegate: Row {
                    id: line

                    required property int index
                    readonly property var reading: root.readings[index] ?? { name: "", value: "", color: "transparent" }

                    spacing: Theme.px(6)

                    Rectangle {
                        anchors.verticalCenter: parent.verticalCenter
                        width: Theme.px(8)
                        height: width
                        radius: 2
                        color: line.reading.hollow ? "transparent" : line.reading.color
                        border.width: line.reading.hollow ? 2 : 0
                        border.color: line.reading.color
                    }
                    Text {
                        text: line.reading.name
                        textFormat: Text.PlainText
                        font.pixelSize: Theme.sizeSmall
                        color: Theme.textMuted
                    }
                    Text {
                        text: line.reading.value
                        textFormat: Text.PlainText
                        font.pixelSize: Theme.sizeSmall
                        font.weight: Font.Medium
                        color: Theme.text
                    }
                }
            }
        }
    }
}
