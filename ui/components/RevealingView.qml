// Scrolls a column, and brings into sight whatever in it the keyboard comes to.
import QtQuick
import QtQuick.Controls
import Spillway.Ui.Theme

Flickable {
    id: root

    property Item revealed: null // null: the page has been scrolled in another way since

    function reveal(item: Item) {
        if (!item || !item.visible)
            return;
        let up = item;
        while (up && up !== contentItem)
            up = up.parent;
        if (!up)
            return;
        revealed = item;
        if (!interactive)
            return;
        const top = item.mapToItem(contentItem, 0, 0).y, bottom = top + item.height;
        const margin = Math.max(0, Math.min(Theme.gap, (height - item.height) / 2)); // so that neither end is cut
        if (top < contentY)
            contentY = Math.max(0, top - margin);
        else if (bottom > contentY + height)
            contentY = Math.max(0, Math.min(contentHeight - height, bottom + margin - height));
    }

    // Does it again where the page finds its final height only after the keyboard has come to the item.
    function revealAgain() {
        if (revealed && revealed === root.Window.activeFocusItem)
            reveal(revealed);
    }

    clip: true
    contentWidth: width
    onContentHeightChanged: Qt.callLater(root.revealAgain) // qmllint disable
    onHeightChanged: Qt.callLater(root.revealAgain) // qmllint disable
    onMovementStarted: revealed = null
    boundsBehavior: Flickable.StopAtBounds
    ScrollBar.vertical: ThinScrollBar { visible: root.interactive }

    Connections {
        target: root.Window.window

        function onActiveFocusItemChanged() { root.reveal(root.Window.activeFocusItem); }
    }
}
