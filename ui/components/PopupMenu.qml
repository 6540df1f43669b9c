// A menu that opens where it is asked for.
import QtQuick
import QtQuick.Controls
import Spillway.Ui.Theme

Menu {
    id: root

    property int menuWidth: Theme.px(220)

    padding: Theme.gapTiny
    delegate: PopupMenuItem {}

    background: Rectangle {
        implicitWidth: root.menuWidth
        radius: Theme.radiusSmall
        color: Theme.raised
        border.width: 1
        border.color: Theme.borderStrong
    }
    enter: Transition {
        NumberAnimation { property: "opacity"; from: 0; to: 1; duration: Theme.fast }
    }
}
