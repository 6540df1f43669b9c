// Shows on top which model is open, and the buttons that concern the whole window.
import QtQuick
import QtQuick.Layouts
import Spillway.App
import Spillway.Ui.Components
import Spillway.Ui.Models
import Spillway.Ui.Monitor
import Spillway.Ui.Theme

Rectangle {
    id: root

    required property ModelController models
    required property CatalogueController catalogue
    required property ChatController chat
    required property SettingsController settings
    required property Pressure pressure
    required property ServerController server
    required property bool sidebarShown
    required property bool panelShown
    required property ShortcutModel table

    signal sidebarToggled
    signal panelToggled
    signal openRequested
    signal newRequested
    signal modelsRequested
    signal conversationSettingsRequested
    signal modelChosen
    signal localServerRequested

    readonly property alias menuShown: modelMenu.visible // Esc closes the menu then
    readonly property bool tight: width < Theme.px(480)  // large text in a small window: some buttons go

    function showModelMenu() {
        modelMenu.before = root.Window.activeFocusItem;
        modelMenu.popup(badge, 0, badge.height);
    }

    readonly property var themes: [
        { icon: "qrc:/icons/system.svg", name: qsTr("Theme: as the desktop") },
        { icon: "qrc:/icons/light.svg", name: qsTr("Theme: light") },
        { icon: "qrc:/icons/dark.svg", name: qsTr("Theme: dark") }
    ]

    implicitHeight: Theme.topBarHeight
    color: Theme.ground

    Accessible.role: Accessible.ToolBar
    Accessible.name: qsTr("Model and window")

    RowLayout {
        anchors.fill: parent
        anchors.leftMargin: Theme.gap
        anchors.rightMargin: Theme.gap
        spacing: Theme.gapSmall

        IconButton {
            objectName: "sidebarButton"
            name: root.sidebarShown ? qsTr("Hide the conversations") : qsTr("Show the conversations")
            shortcutText: root.table.keysOf("toggleSidebar")
            source: "qrc:/icons/sidebar.svg"
            onClicked: root.sidebarToggled()
        }
        ModelBadge {
            id: badge

            objectName: "modelBadge"
            Layout.fillWidth: true
            Layout.minimumWidth: Theme.px(44) // room for the picture
            Layout.maximumWidth: implicitWidth
            models: root.models
            shortcutText: root.table.keysOf("switchModel")
            menuShown: modelMenu.visible
            onClicked: root.showModelMenu()

            ModelMenu {
                id: modelMenu

                objectName: "modelMenu"
                models: root.models
                catalogue: root.catalogue
                onChosen: root.modelChosen()
                onOthersRequested: root.modelsRequested()
                onFileRequested: root.openRequested()
            }
        }
        Item {
            Layout.fillWidth: true
        }
        LayerSplit {
            objectName: "topSplit"
            Layout.preferredWidth: Theme.px(330)
            Layout.fillWidth: false
            visible: root.pressure.placement.available && root.width >= Theme.px(1000)
            placement: root.pressure.placement
        }
        IconButton {
            objectName: "serverSign"
            visible: root.server.state === ServerController.On
            name: root.server.answers ? qsTr("The local server answers a program at %1").arg(root.server.host)
                                      : qsTr("The local server is on: programs reach it at %1").arg(root.server.host)
            source: "qrc:/icons/server.svg"
            ink: Theme.accent
            onClicked: root.localServerRequested()
        }
        ActionButton {
            objectName: "openButton"
            visible: (root.models.current.known || root.chat.messages.count > 0) && !root.tight // then by the model's menu
            text: qsTr("Open…")
            Accessible.name: qsTr("Open a model")
            icon.source: "qrc:/icons/open.svg"
            onClicked: root.openRequested()
        }
        IconButton {
            objectName: "conversationSettingsButton"
            name: qsTr("Conversation settings")
            shortcutText: qsTr("Ctrl+.")
            source: "qrc:/icons/tune.svg"
            onClicked: root.conversationSettingsRequested()
        }
        IconButton {
            objectName: "newButton"
            name: qsTr("New conversation")
            shortcutText: root.table.keysOf("newConversation")
            source: "qrc:/icons/new.svg"
            enabled: root.chat.messages.count > 0
            onClicked: root.newRequested()
        }
        IconButton {
            objectName: "themeButton"
            visible: !root.tight // else it is in the settings
            name: root.themes[root.settings.theme.value].name
            source: root.themes[root.settings.theme.value].icon
            onClicked: root.settings.theme.value = (root.settings.theme.value + 1) % 3
        }
        IconButton {
            objectName: "panelButton"
            name: root.panelShown ? qsTr("Hide memory pressure") : qsTr("Show memory pressure")
            shortcutText: root.table.keysOf("togglePanel")
            source: "qrc:/icons/pressure.svg"
            onClicked: root.panelToggled()
        }
    }
    Rectangle {
        anchors.bottom: parent.bottom
        width: parent.width
        height: 1
        color: Theme.border
    }
}
