// Draws a line of the left column that leads to a page.
import QtQuick
import QtQuick.Controls
import QtQuick.Layouts
import Spillway.Ui.Theme

Button {
    id: root

    property bool current: false
    property bool compact: false // the picture alone; its name becomes a tip
    property color mark: "transparent" // colour of a small dot beside the picture
    property string markMeans: "" // meaning of the dot, read aloud

    Layout.fillWidth: true
    Layout.minimumHeight: implicitHeight
    implicitHeight: Theme.controlHeight
    leftPadding: Theme.gapSmall
    rightPadding: Theme.gapSmall
    spacing: Theme.gapSmall
    font.pixelSize: Theme.sizeBody
    font.weight: current ? Font.Medium : Font.Normal
    icon.width: Theme.px(20)
    icon.height: Theme.px(20)
    icon.color: current ? Theme.accent : Theme.textMuted
    hoverEnabled: true

    Accessible.name: root.text
    Accessible.description: root.markMeans
    Accessible.selected: root.current
    Accessible.onPressAction: root.clicked()
    Keys.onReturnPressed: event => {
        if (!event.isAutoRepeat)
            clicked();
    }
    Keys.onEnterPressed: event => {
        if (!event.isAutoRepeat)
            clicked();
    }

    contentItem: RowLayout {
        spacing: root.spacing

        Picture {
            Layout.alignment: Qt.AlignHCenter
            source: root.icon.source
            size: root.icon.width
            ink: root.icon.color

            Rectangle {
                objectName: "navMark"
                anchors.right: parent.right
                anchors.top: parent.top
                anchors.margins: -Theme.px(2)
                width: Theme.px(8)
                height: width
                radius: width / 2
                visible: root.mark.a > 0
                color: root.mark
            }
        }
        Text {
            Layout.fillWidth: true
            visible: !root.compact
            text: root.text
            textFormat: Text.PlainText
            elide: Text.ElideRight
            font: root.font
            color: Theme.text
            Accessible.ignored: true
        }
    }
    background: Rectangle {
        radius: Theme.radiusSmall
        color: root.current || root.hovered || root.down ? Theme.hover : "transparent"

        FocusRing { visible: root.visualFocus; gap: -2 }
    }

    Tip {
        visible: root.compact && (root.hovered || root.visualFocus) && !root.down
        text: root.text
    }
}
