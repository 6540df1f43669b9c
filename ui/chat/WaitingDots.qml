// Shows that the model has not begun to answer yet.
pragma ComponentBehavior: Bound

import QtQuick
import Spillway.Ui.Theme

Row {
    id: root

    spacing: 5
    topPadding: Theme.gapSmall
    bottomPadding: Theme.gapSmall

    Accessible.role: Accessible.StaticText
    Accessible.name: qsTr("Waiting for the first word")

    Repeater {
        model: 3
        delegate: Rectangle {
            id: dot

            required property int index

            width: 7
            height: 7
            radius: 3.5
            color: Theme.textMuted

            SequentialAnimation on opacity {
                running: root.visible
                loops: Animation.Infinite
                PauseAnimation { duration: dot.index * 160 }
                NumberAnimation { from: 0.3; to: 1; duration: 320 }
                NumberAnimation { from: 1; to: 0.3; duration: 320 }
                PauseAnimation { duration: (3 - dot.index) * 160 }
            }
        }
    }
}
