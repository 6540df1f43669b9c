// Opens a menu where it is asked for.
import QtQuick
import QtQuick.Controls
import Spillway.Ui.Theme

Menu {
    id: root

    property int menuWidth: Theme.px(220) // grows with its words, within bounds
    property real widestItem: 0

    padding: Theme.gapTiny
    delegate: PopupMenuItem {}
    onAboutToShow: {
        let widest = 0;
        for (let i = 0; i < count; ++i)
            widest = Math.max(widest, itemAt(i)?.implicitWidth ?? 0);
        widestItem = widest;
    }

    background: Rectangle {
        implicitWidth: Math.max(root.menuWidth, Math.min(root.widestItem + 2 * root.padding, Theme.px(320)))
        radius: Theme.radiusSmall
        color: Theme.raised
        border.width: 1
        border.color: Theme.borderStrong
    }
    enter: Transition {
        NumberAnimation { property: "opacity"; from: 0; to: 1; duration: Theme.fast }
    }
}
