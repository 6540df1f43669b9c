// Makes from the table the shortcuts that work everywhere in the window, some of them also in its other windows.
pragma ComponentBehavior: Bound

import QtQuick
import Spillway.App

Instantiator {
    id: root

    required property ShortcutModel table
    property bool active: true
    property bool escapes: true // Esc is the window's, not a popup's

    signal triggered(string action)

    model: table
    delegate: Shortcut {
        required property string action
        required property bool ofWindow
        required property bool inAllWindows

        context: inAllWindows ? Qt.ApplicationShortcut : Qt.WindowShortcut
        // What is done once is not done over and over while its key is held.
        autoRepeat: action === "previousVersion" || action === "nextVersion" || action === "larger" || action === "smaller"
        enabled: ofWindow && root.active && (action !== "escape" || root.escapes)
        onActivated: root.triggered(action)
    }
    onObjectAdded: (index, shortcut) => {
        shortcut.sequences = table.data(table.index(index, 0), ShortcutModel.SequencesRole);
    }
}
