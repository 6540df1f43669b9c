// Repeats items in a layout, where Qt 6.4's Repeater is not safe: its layouts keep removed items until they are
// polished, which is at the next frame or, while nothing of them is shown, much later. A layout that is resized before
// that uses a deleted item and crashes.
import QtQuick

Repeater {
    id: root

    // Runs before the removed items are deleted.
    onItemRemoved: Qt.callLater(root.settle) // qmllint disable

    function settle() {
        if (parent)
            parent.ensurePolished();
    }
}
