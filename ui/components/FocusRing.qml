// Shows which control the keyboard is on.
import QtQuick
import Spillway.Ui.Theme

Rectangle {
    property int gap: 2

    anchors.fill: parent
    anchors.margins: -gap - border.width
    radius: ((parent as Rectangle)?.radius ?? Theme.px(4)) + gap + border.width
    color: "transparent"
    border.width: 2
    border.color: Theme.accent
}
