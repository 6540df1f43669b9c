// Holds what the main window and the panel's window have in common: the theme's colours for what Qt draws, a mended
// file dialog, and the size that a screen has room for.
import QtQuick
import QtQuick.Controls
import Spillway.Ui.Theme

ApplicationWindow {
    id: root

    // The size of the largest window that fits on the screen.
    readonly property size room: roomOn(Screen.width, Screen.height, Screen.desktopAvailableWidth, Screen.desktopAvailableHeight)

    // The desktop's size without its bars may be that of several screens side by side, so the screen's own size limits
    // it. The height of a title bar is guessed, since it is not known before the window is shown.
    function roomOn(screenWidth: real, screenHeight: real, desktopWidth: real, desktopHeight: real): size {
        const titleBar = 40;
        return Qt.size(Math.min(screenWidth, desktopWidth), Math.min(screenHeight, desktopHeight) - titleBar);
    }

    // Colours for the few things that Qt draws: the file dialog, menus.
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
