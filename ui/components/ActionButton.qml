// A button with words. One primary button at most is on a page at a time.
import QtQuick
import QtQuick.Controls
import Spillway.Ui.Theme

Button {
    id: root

    property bool primary: false

    readonly property color ink: primary ? Theme.accentInk : Theme.text
    // Where the pointer's coming fades, not the colour: another theme is there at once, at the start above all.
    property real lit: hovered || down ? 1 : 0

    Behavior on lit { NumberAnimation { duration: Theme.fast } }

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
        color: root.primary ? Theme.between(Theme.accent, Theme.accentHover, root.lit) : Theme.between(Theme.raised, Theme.hover, root.lit)
        border.width: root.primary ? 0 : 1
        border.color: Theme.border

        FocusRing { visible: root.visualFocus }
    }
}
