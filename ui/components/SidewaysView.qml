// Scrolls code and tables that are wider than the page sideways: by a bar that has room of its own below, by Shift and
// the wheel, trackpad and finger; the items around it may do so by keys. Over it, the wheel scrolls the page as
// everywhere.
import QtQuick
import QtQuick.Controls
import Spillway.App

Flickable {
    id: root

    required property real tall // height of what is in it
    readonly property bool overflows: contentWidth > width

    function scrollSideways(distance: real) {
        contentX = Math.max(0, Math.min(contentWidth - width, contentX + distance));
    }

    implicitHeight: Math.ceil(tall) + (overflows ? bar.implicitHeight : 0)
    contentHeight: height
    flickableDirection: Flickable.HorizontalFlick
    boundsBehavior: Flickable.StopAtBounds
    interactive: overflows
    clip: overflows
    ScrollBar.horizontal: ThinScrollBar {
        id: bar

        objectName: "sidewaysBar"
        policy: root.overflows ? ScrollBar.AlwaysOn : ScrollBar.AlwaysOff
    }

    SidewaysWheel { view: root }
}
