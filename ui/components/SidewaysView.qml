// Scrolls code and tables that are wider than the page sideways: by a bar that has room of its own below, by Shift and
// the wheel, trackpad and finger; the items around it may do so by keys. Over it, the wheel scrolls the page as
// everywhere.
import QtQuick
import QtQuick.Controls
import Spillway.App

Flickable {
    id: root

    required property real tall // height of what is in it
    property bool mirrored: false // it begins at the right
    property real passed: 0 // pixels between the right end and the view
    readonly property bool overflows: contentWidth > width
    readonly property real range: Math.max(0, contentWidth - width) // pixels that it scrolls

    // False: there is nothing more to see that way.
    function scrollSideways(distance: real): bool {
        const before = contentX;
        contentX = Math.max(0, Math.min(range, contentX + distance));
        return contentX !== before;
    }
    // Scrolls as far as it takes to see the place that a key has moved to in the text. Keys that move to none, such as
    // Shift beside the wheel, leave the view where it is.
    function follow(key: int, x: real) {
        if (key >= Qt.Key_Home && key <= Qt.Key_PageDown) // and the arrows, which are between these
            scrollSideways(Math.max(x - contentX - width, Math.min(0, x - contentX)));
    }

    // What begins at the right stays as far from there as it has been scrolled, whatever width it gets.
    onMirroredChanged: contentX = mirrored ? range : 0
    onRangeChanged: {
        if (mirrored)
            contentX = Math.max(0, range - passed);
    }
    onContentXChanged: passed = Math.max(0, contentWidth - width) - contentX // `range` may be computed only later

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
