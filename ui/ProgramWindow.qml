// What the window and that of the panel have in common: the theme's colours for what Qt draws, and a file dialog without
// its faults.
import QtQuick
import QtQuick.Controls
import Spillway.Ui.Theme

ApplicationWindow {
    id: root

    // For the few things we do not draw ourselves: the file dialog, menus.
    palette {
        window: Theme.ground
        windowText: Theme.text
        base: Theme.raised
        alternateBase: Theme.sunken
        text: Theme.text
        button: Theme.sunken
        buttonText: Theme.text
        brightText: Theme.text
        placeholderText: Theme.textMuted
        highlight: Theme.selection
        highlightedText: Theme.text
        light: Theme.hover
        midlight: Theme.hover
        mid: Theme.border
        dark: Theme.textMuted
        shadow: Theme.border
        link: Theme.accent
    }

    FileDialogRemedy {
        overlay: root.Overlay.overlay
    }
}
