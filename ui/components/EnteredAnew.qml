// Makes Tab enter a list from its beginning each time. By itself a list gives the keyboard to the button in it that had
// it last, so that Tab would skip the list itself, and the buttons before that one.
import QtQuick
import QtQuick.Controls

Item {
    id: root

    required property Item list

    readonly property Item popups: Overlay.overlay
    property Item inner: null // the item in the list that has the keyboard, or had it last

    // Says whether the keyboard only comes back: from a menu that closes, or with the window.
    function returns(item: Item): bool {
        let up = item;
        while (up && up !== root.popups)
            up = up.parent;
        return up !== null || !root.list.Window.active;
    }

    function forget() {
        for (let up = root.inner; up && up !== root.list; up = up.parent)
            up.focus = false; // an item around it may be a focus scope, too
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
