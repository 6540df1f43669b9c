// A Repeater that stands in a layout. Qt 6.4's layouts keep items that are gone until they are polished, which is at the next frame or, where nothing
// of them is shown, much later; a layout that gets another size before that calls what is no more.
import QtQuick

Repeater {
    id: root

    // Before the items that went are deleted.
    onItemRemoved: Qt.callLater(root.settle) // qmllint disable

    function settle() {
        if (parent)
            parent.ensurePolished();
    }
}
