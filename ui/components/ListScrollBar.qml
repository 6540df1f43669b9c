// Scrolls a list whose rows differ much in height. It counts rows instead of pixels, since the height of rows that have
// not been made is not known: so it never jumps, and each position always means the same row.
import QtQuick

ThinScrollBar {
    id: root

    required property ListView view

    // Returns the row at this share of the view's height, plus the share of that row that lies above.
    function rowAt(share: real): real {
        const y = view.contentY + share * view.height;
        let index = view.indexAt(1, y);
        if (index < 0)
            index = view.indexAt(1, y + view.spacing);
        const item = index < 0 ? null : view.itemAtIndex(index);
        if (!item)
            return share < 0.5 ? 0 : view.count;
        return index + Math.max(0, Math.min(1, (y - item.y) / Math.max(1, item.height)));
    }

    // The row at the share p of the list stands at the share p of the view: the first at its top, the last at its bottom.
    function follow() {
        if (pressed)
            return;
        if (view.count === 0 || view.contentHeight <= view.height) {
            size = 1;
            position = 0;
            return;
        }
        size = Math.min(0.95, Math.max(0.001, (rowAt(1) - rowAt(0)) / view.count));
        let share = size < 1 ? position / (1 - size) : 0;
        for (let i = 0; i < 5; ++i)
            share = Math.max(0, Math.min(1, rowAt(share) / view.count));
        if (view.atYBeginning)
            share = 0;
        else if (view.atYEnd)
            share = 1;
        position = share * (1 - size);
    }

    function go() {
        const share = Math.max(0, Math.min(1, position / (1 - size)));
        if (share < 0.001 || share > 0.999) {
            share < 0.5 ? view.positionViewAtBeginning() : view.positionViewAtEnd();
            return;
        }
        const row = share * view.count;
        const index = Math.min(view.count - 1, Math.floor(row));
        view.positionViewAtIndex(index, ListView.Beginning);
        const item = view.itemAtIndex(index);
        if (item)
            view.contentY = item.y + (row - index) * item.height - share * view.height;
        view.returnToBounds();
    }

    objectName: "listScrollBar"
    orientation: Qt.Vertical
    anchors.top: parent.top
    anchors.bottom: parent.bottom
    anchors.right: parent.right
    onPositionChanged: {
        if (pressed)
            go();
    }

    Connections {
        target: root.view

        function onContentYChanged() { root.follow(); }
        function onContentHeightChanged() { root.follow(); }
        function onHeightChanged() { root.follow(); }
    }
}
