// Scrolls a column, and brings into sight whatever in it the keyboard comes to.
import QtQuick
import QtQuick.Controls
import Spillway.Ui.Theme

Flickable {
    id: root

    function reveal(item: Item) {
        let up = item;
        while (up && up !== contentItem)
            up = up.parent;
        if (!up || !interactive)
            return;
        const top = item.mapToItem(contentItem, 0, 0).y, bottom = top + item.height;
        if (top < contentY)
            contentY = Math.max(0, top - Theme.gap);
        else if (bottom > contentY + height)
            contentY = Math.max(0, Math.min(contentHeight - height, bottom + Theme.gap - height));
    }

    clip: true
    contentWidth: width
    boundsBehavior: Flickable.StopAtBounds
    ScrollBar.vertical: ThinScrollBar { visible: root.interactive }

    Connections {
        target: root.Window.window

        function onActiveFocusItemChanged() { root.reveal(root.Window.activeFocusItem); }
    }
}
