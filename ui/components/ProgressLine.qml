// Shows by a thin bar how much of something is done or used.
import QtQuick
import QtQuick.Controls
import Spillway.Ui.Theme

ProgressBar {
    id: root

    property color fill: Theme.accent
    property real phase // place of the bar that moves to and fro while the progress is not known

    implicitHeight: 6
    implicitWidth: 120

    Accessible.role: Accessible.ProgressBar

    background: Rectangle {
        radius: height / 2
        color: Theme.dark ? Theme.hover : Theme.border
    }
    contentItem: Item {
        Rectangle {
            readonly property real share: root.indeterminate ? 0.3 : root.visualPosition

            x: root.indeterminate ? root.phase * (parent.width - width) : 0
            width: Math.max(share > 0 ? height : 0, share * parent.width)
            height: parent.height
            radius: height / 2
            color: root.fill
        }
    }

    SequentialAnimation on phase {
        running: root.indeterminate && root.visible
        loops: Animation.Infinite
        NumberAnimation { to: 1; duration: 900; easing.type: Easing.InOutSine }
        NumberAnimation { to: 0; duration: 900; easing.type: Easing.InOutSine }
    }
}
