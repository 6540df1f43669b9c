// Lets a list be entered anew: by itself it hands the keyboard to the button in it that had it last, so that from the
// second round on Tab would pass over the list, and over the buttons before that one.
import QtQuick
import QtQuick.Controls

Item {
    id: root

    required property Item list

    readonly property Item popups: Overlay.overlay
    property Item inner: null // what in it has the keyboard, or had it last

    // A menu that closes, and a window that comes back, return the keyboard to where it was.
    function returns(item: Item): bool {
        let up = item;
        while (up && up !== root.popups)
            up = up.parent;
        return up !== null || !root.list.Window.active;
    }

    function forget() {
        for (let up = root.inner; up && up !== root.list; up = up.parent)
            up.focus = false; // a part of it may be a scope, too
        root.inner = null;
    }

    visible: false

    Connections {
        target: root.list.Window.window

        function onActiveFocusItemChanged() {
            const item = root.list.Window.activeFocusItem;
            if (root.list.activeFocus)
                root.inner = item;
            else if (root.inner && !root.returns(item))
                root.forget();
        }
    }
}
