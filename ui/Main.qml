// The window. What is in it is Shell's business.
import QtQuick
import QtQuick.Controls
import Spillway.App
import Spillway.Ui.Theme

ApplicationWindow {
    id: root

    required property ChatController chat
    required property ModelController models
    required property SettingsController settings

    width: 1100
    height: 760
    minimumWidth: 640
    minimumHeight: 480
    visible: true
    title: models.current.known ? qsTr("%1 – Spillway").arg(models.current.name) : qsTr("Spillway")
    color: Theme.ground

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

    Binding {
        target: Theme
        property: "dark"
        value: root.settings.dark
    }

    Shell {
        anchors.fill: parent
        chat: root.chat
        models: root.models
        settings: root.settings
        focus: true
    }
}
