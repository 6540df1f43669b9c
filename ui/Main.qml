// Opens the window; Shell holds its contents. As the first file that is read it imports QtQuick.Controls, since Qt 6.4
// finds the plugin only where the first file does so.
import QtQuick
import QtQuick.Controls // qmllint disable unused-imports
import Spillway.App
import Spillway.Ui.Theme

ProgramWindow {
    id: root

    required property ChatController chat
    required property ConversationsController conversations
    required property ComposerController composer
    required property ConversationSettingsController conversationSettings
    required property ModelController models
    required property CatalogueController catalogue
    required property SettingsController settings
    required property ProgramController program
    required property ShownLog log
    required property Pressure pressure
    required property ExperimentsController experiments
    required property Fetching fetching
    required property Servers servers
    required property ServerLoad serverLoad
    required property ServerController server

    // The window's visibility, or the one before it was minimised.
    property int unminimized: Window.Windowed

    minimumWidth: 640
    minimumHeight: 480
    visible: false // until it has its size
    title: models.current.known ? qsTr("%1 – Spillway").arg(models.current.name) : qsTr("Spillway")
    color: Theme.ground

    Binding {
        target: Theme
        property: "dark"
        value: root.settings.dark
    }

    Binding {
        target: Theme
        property: "scale"
        value: root.settings.fontPercent.value / 100
    }

    // Restores the window's last size, as far as the screen has room.
    Component.onCompleted: {
        const tooLarge = settings.windowWidth.value > room.width || settings.windowHeight.value > room.height;
        width = Math.min(settings.windowWidth.value, room.width);
        height = Math.min(settings.windowHeight.value, room.height);
        if (tooLarge)
            showMaximized();
        else
            visible = true;
    }
    onVisibilityChanged: {
        if (root.visibility !== Window.Minimized && root.visibility !== Window.Hidden)
            root.unminimized = root.visibility;
    }
    onClosing: {
        if (visibility !== Window.Windowed)
            return;
        settings.windowWidth.value = width;
        settings.windowHeight.value = height;
    }

    // The program was started once more: the window comes to the front.
    Connections {
        target: root.program

        function onRaiseRequested() {
            root.visibility = root.unminimized;
            root.raise();
            root.requestActivate();
        }
    }

    Shell {
        anchors.fill: parent
        chat: root.chat
        conversations: root.conversations
        composer: root.composer
        conversationSettings: root.conversationSettings
        models: root.models
        catalogue: root.catalogue
        settings: root.settings
        program: root.program
        log: root.log
        pressure: root.pressure
        experiments: root.experiments
        fetching: root.fetching
        servers: root.servers
        serverLoad: root.serverLoad
        server: root.server
        focus: true
    }
}
