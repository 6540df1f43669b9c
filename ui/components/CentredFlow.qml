// Lays out items in as many lines as they need, each line in the middle. A Flow begins its lines at the left.
import QtQuick

Item {
    id: root

    property real spacing: 0

    property var watched: [] // children

    // Returns the items of each line, in order.
    function lines(): var {
        const all = [];
        let width = 0;
        for (let i = 0; i < children.length; ++i) {
            const child = children[i];
            if (!child.visible || child.width === 0) // a Repeater has no size
                continue;
            const more = width + spacing + child.width;
            if (all.length > 0 && more <= root.width) {
                all[all.length - 1].push(child);
                width = more;
            } else {
                all.push([child]);
                width = child.width;
            }
        }
        return all;
    }
    function place() {
        let y = 0;
        for (const line of lines()) {
            const width = line.reduce((sum, item) => sum + item.width, spacing * (line.length - 1));
            let x = Math.round((root.width - width) / 2);
            for (const item of line) {
                item.x = x;
                item.y = y;
                x += item.width + spacing;
            }
            y += Math.max(...line.map(item => item.height)) + spacing;
        }
        root.implicitHeight = Math.max(0, y - spacing);
    }
    function placeSoon() {
        if (root) // not while the page is being destroyed
            Qt.callLater(root.place); // qmllint disable
    }
    function watch() {
        const all = [];
        for (let i = 0; i < children.length; ++i) {
            const child = children[i];
            if (watched.indexOf(child) < 0) {
                for (const change of [child.widthChanged, child.heightChanged, child.visibleChanged])
                    change.connect(root.placeSoon);
            }
            all.push(child);
        }
        watched = all;
        placeSoon();
    }

    onWidthChanged: placeSoon()
    onSpacingChanged: placeSoon()
    onChildrenChanged: watch()
    Component.onCompleted: watch()
}
