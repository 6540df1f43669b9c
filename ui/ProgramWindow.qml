// Holds what the window and that of the panel have in common: the theme's colours for what Qt draws, a file dialog
// without its faults, and the size that a screen has room for.
import QtQuick
import QtQuick.Controls
import Spillway.Ui.Theme

ApplicationWindow {
    id: root

    // The largest window that can be seen as a whole.
    readonly property size room: roomOn(Screen.width, Screen.height, Screen.desktopAvailableWidth, Screen.desktopAvailableHeight)

    // The desktop without its bars is that of all screens together, which may lie side by side. What a title bar takes is
    // not known before there is one.
    function roomOn(screenWidth: real, screenHeight: real, desktopWidth: real, desktopHeight: real): size {
        const titleBar = 40;
        return Qt.size(Math.min(screenWidth, desktopWidth), Math.min(screenHeight, desktopHeight) - titleBar);
    }

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
