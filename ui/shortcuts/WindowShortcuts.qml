// Makes the shortcuts of the table, which work everywhere in the window, some of them also in the program's other
// windows.
pragma ComponentBehavior: Bound

import QtQuick
import Spillway.App

Instantiator {
    id: root

    required property ShortcutModel table
    property bool active: true
    property bool escapes: true // Esc is for the window and not for a popup

    signal triggered(string action)

    model: table
    delegate: Shortcut {
        required property string action
        required property bool ofWindow
        required property bool inAllWindows

        context: inAllWindows ? Qt.ApplicationShortcut : Qt.WindowShortcut
        // Only actions that make sense again and again are repeated while the key is held.
        autoRepeat: action === "previousVersion" || action === "nextVersion" || action === "larger" || action === "smaller"
        enabled: ofWindow && root.active && (action !== "escape" || root.escapes)
        onActivated: root.triggered(action)
    }
    onObjectAdded: (index, shortcut) => {
        shortcut.sequences = table.data(table.index(index, 0), ShortcutModel.SequencesRole);
    }
}
