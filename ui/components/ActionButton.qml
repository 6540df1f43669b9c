// Draws a button with words. A page shows at most one primary button at a time.
import QtQuick
import QtQuick.Controls
import Spillway.Ui.Theme

Button {
    id: root

    property bool primary: false
    property bool destructive: false // its action cannot be undone

    readonly property color ink: destructive ? Theme.dangerInk : primary ? Theme.accentInk : Theme.text
    readonly property color ground: destructive ? Theme.danger : primary ? Theme.accent : Theme.raised
    readonly property color litGround: destructive ? Theme.dangerHover : primary ? Theme.accentHover : Theme.hover
    // Animated when the pointer comes. The colour is not, so that another theme is shown at once, above all at the
    // start.
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
    // Enter does the same as the space bar, and only once while it is held.
    Keys.onReturnPressed: event => {
        if (!event.isAutoRepeat)
            clicked();
    }
    Keys.onEnterPressed: event => {
        if (!event.isAutoRepeat)
            clicked();
    }

    background: Rectangle {
        radius: Theme.radiusSmall
        color: Theme.between(root.ground, root.litGround, root.lit)
        border.width: root.primary || root.destructive ? 0 : 1
        border.color: Theme.border

        FocusRing { visible: root.visualFocus }
    }
}
