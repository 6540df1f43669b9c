// Draws a thin scroll bar.
import QtQuick
import QtQuick.Controls
import Spillway.Ui.Theme

ScrollBar {
    id: root

    padding: 3
    minimumSize: 0.06

    contentItem: Rectangle {
        implicitWidth: 6
        implicitHeight: 6
        radius: 3
        color: root.pressed || root.hovered ? Theme.textMuted : Theme.borderStrong
        opacity: root.size < 1 && root.policy !== ScrollBar.AlwaysOff ? 1 : 0
    }
    background: null
}
