// Draws a slider, whose name is read aloud with its value.
import QtQuick
import QtQuick.Controls
import Spillway.Ui.Theme

Slider {
    id: root

    required property string name

    implicitHeight: Theme.px(28)
    leftPadding: 0
    rightPadding: 0
    hoverEnabled: true

    Accessible.role: Accessible.Slider
    Accessible.name: root.name

    background: Rectangle {
        y: (root.height - height) / 2
        width: root.width
        height: Theme.px(4)
        radius: height / 2
        color: Theme.dark ? Theme.hover : Theme.border

        Rectangle {
            width: root.visualPosition * (root.width - root.handle.width) + root.handle.width / 2
            height: parent.height
            radius: parent.radius
            color: Theme.accent
        }
    }
    handle: Rectangle {
        x: root.visualPosition * (root.width - width)
        y: (root.height - height) / 2
        width: Theme.px(18)
        height: width
        radius: width / 2
        color: root.pressed || root.hovered ? Theme.accentHover : Theme.accent
        border.width: 3
        border.color: Theme.raised

        FocusRing { visible: root.visualFocus; gap: 0 }
    }
}
