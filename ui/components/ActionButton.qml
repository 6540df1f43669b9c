// A button with words. One primary button at most is on a page at a time.
import QtQuick
import QtQuick.Controls
import Spillway.Ui.Theme

Button {
    id: root

    property bool primary: false

    readonly property color ink: primary ? Theme.accentInk : Theme.text

    implicitHeight: Theme.controlHeight
    leftPadding: Theme.gap
    rightPadding: Theme.gap
    spacing: Theme.gapSmall
    font.pixelSize: Theme.sizeBody
    font.weight: Font.Medium
    icon.width: Theme.px(20)
    icon.height: Theme.px(20)
    icon.color: ink
    palette.buttonText: ink
    opacity: enabled ? 1 : 0.5
    hoverEnabled: true

    Accessible.name: root.text
    Accessible.onPressAction: root.clicked()

    background: Rectangle {
        radius: Theme.radiusSmall
        color: root.primary ? (root.hovered || root.down ? Theme.accentHover : Theme.accent)
                            : (root.hovered || root.down ? Theme.hover : Theme.raised)
        border.width: root.primary ? 0 : 1
        border.color: Theme.border

        Behavior on color { ColorAnimation { duration: Theme.fast } }

        FocusRing { visible: root.visualFocus }
    }
}
