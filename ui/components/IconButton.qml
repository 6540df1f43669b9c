// Draws a button with a picture only; its name is read aloud and shown as a tip.
import QtQuick
import QtQuick.Controls
import Spillway.Ui.Theme

AbstractButton {
    id: root

    required property string name
    required property url source
    property string tip: name
    property string shortcutText: ""
    property bool filled: false
    property color ink: filled ? Theme.accentInk : Theme.textMuted
    property int size: Theme.controlHeight
    property int pictureSize: Theme.px(20)

    // Animated when the pointer comes. The colour is not, so that another theme is shown at once, above all at the
    // start.
    property real lit: hovered || down ? 1 : 0

    property bool used: false // pressed since the pointer came, so its name needs no tip any more

    implicitWidth: size
    implicitHeight: size
    hoverEnabled: true
    opacity: enabled ? 1 : 0.4

    Accessible.role: Accessible.Button
    Accessible.name: root.name
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

    onClicked: used = true
    onTipChanged: used = false
    onHoveredChanged: {
        if (!hovered)
            used = false;
    }
    onVisualFocusChanged: {
        if (visualFocus)
            used = false;
    }

    Behavior on lit { NumberAnimation { duration: Theme.fast } }

    background: Rectangle {
        radius: root.filled ? height / 2 : Theme.radiusSmall
        color: root.filled ? Theme.between(Theme.accent, Theme.accentHover, root.lit) : Qt.alpha(Theme.hover, root.lit)

        FocusRing { visible: root.visualFocus }
    }

    contentItem: Item {
        Picture {
            anchors.centerIn: parent
            source: root.source
            size: root.pictureSize
            ink: root.ink
        }
    }

    Tip {
        visible: root.visible && root.enabled && (root.hovered || root.visualFocus) && !root.down && !root.used
        text: root.shortcutText === "" ? root.tip : root.tip + "  " + root.shortcutText
    }
}
