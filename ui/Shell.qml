// Lays out the columns of the window and what lies over them; WindowActions carries out what is asked of the window.
import QtQuick
import QtQuick.Layouts
import Spillway.App
import Spillway.Ui.Chat
import Spillway.Ui.Components
import Spillway.Ui.Conversations
import Spillway.Ui.Models
import Spillway.Ui.Monitor
import Spillway.Ui.Shortcuts
import Spillway.Ui.Theme

FocusScope {
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

    readonly property alias page: actions.page

    function show(page: int) {
        actions.show(page);
    }
    function goTo(conversation: string) {
        root.chat.open(conversation);
        actions.show(PageName.Conversation);
    }

    // Takes the keyboard from a column that is hidden.
    function keepKeyboard(column: Item) {
        if (!column.visible && column.activeFocus)
            pages.takeFocus();
    }

    WindowActions {
        id: actions

        chat: root.chat
        models: root.models
        settings: root.settings
        placement: root.pressure.placement
        pages: pages
        column: column
        narrow: root.width - (beside ? panel.width : 0) < Theme.px(beside ? 800 : 860)
        cramped: root.width < Theme.px(960)
        onOpenModelRequested: openDialog.begin()
        onModelMenuRequested: topBar.showModelMenu()
        onSheetRequested: sheet.visible ? sheet.close() : sheet.open()
    }
    Connections {
        target: root.conversations

        function onMessageRequested(message: string, excerpt: string) {
            pages.chatPage.showMessage(message, excerpt);
        }
    }

    Connections {
        target: root.pressure.devices

        function onPanelWanted() {
            actions.showPanel();
        }
    }

    // The server is asked only while its numbers can be seen.
    Binding {
        target: root.serverLoad
        property: "shown"
        value: actions.panelShown || actions.panelApart
    }
    Binding {
        target: CodeView
        property: "wrapping"
        value: root.settings.wrapCode
    }
    AnswerNews {
        chat: root.chat
    }
    OpenDialog {
        id: openDialog

        objectName: "openDialog"
        models: root.models
        settings: root.settings
    }
    ShortcutModel {
        id: shortcutTable
    }
    ShortcutSheet {
        id: sheet

        objectName: "shortcutSheet"
        table: shortcutTable
    }
    WindowShortcuts {
        objectName: "windowShortcuts"
        table: shortcutTable
        escapes: actions.escapes && !sheet.visible && !topBar.menuShown && !pages.chatPage.popupOpen
        onTriggered: action => actions.perform(action)
    }
    ColumnLayout {
        anchors.fill: parent
        spacing: 0

        TopBar {
            id: topBar

            objectName: "topBar"
            Layout.fillWidth: true
            models: root.models
            catalogue: root.catalogue
            chat: root.chat
            settings: root.settings
            pressure: root.pressure
            server: root.server
            sidebarShown: actions.sidebarShown
            panelShown: actions.panelShown
            table: shortcutTable
            onSidebarToggled: actions.toggleSidebar()
            onPanelToggled: actions.togglePanel()
            onOpenRequested: openDialog.begin()
            onNewRequested: actions.startOver()
            onModelsRequested: actions.show(PageName.Models)
            onModelChosen: actions.show(PageName.Conversation)
            onConversationSettingsRequested: actions.showConversationSettings()
            onLocalServerRequested: actions.show(PageName.LocalServer)
        }

        // Columns: the conversations, the page, the pressure panel.
        Item {
            Layout.fillWidth: true
            Layout.fillHeight: true

            NoticeColumn {
                id: notices

                objectName: "notices"
                anchors.left: pages.left
                anchors.right: pages.right
                program: root.program
                models: root.models
                chat: root.chat
                away: actions.page !== PageName.Conversation
                onNewRequested: actions.startOver()
            }
            PageStack {
                id: pages

                anchors.fill: parent
                anchors.topMargin: notices.height
                anchors.leftMargin: actions.sidebarShown && !actions.narrow ? side.width : 0
                anchors.rightMargin: actions.beside ? panel.width : 0
                chat: root.chat
                composer: root.composer
                conversationSettings: root.conversationSettings
                models: root.models
                catalogue: root.catalogue
                settings: root.settings
                program: root.program
                log: root.log
                experiments: root.experiments
                fetching: root.fetching
                servers: root.servers
                server: root.server
                pressure: root.pressure
                page: actions.page
                onPageRequested: page => actions.show(page)
                onOpenRequested: openDialog.begin()
                onNewRequested: actions.startOver()
                onRemoveRequested: actions.removeShown()
                onUndoRequested: root.conversations.undo()
            }
            // Darkens the page under a column that lies over it, and takes clicks on it.
            Rectangle {
                anchors.fill: parent
                visible: actions.sidebarOver || actions.panelOver
                color: Qt.rgba(0, 0, 0, Theme.dark ? 0.5 : 0.25)

                MouseArea {
                    anchors.fill: parent
                    onClicked: actions.leaveColumns()
                }
            }
            SidePanel {
                id: side

                objectName: "sidePanel"
                width: Math.min(implicitWidth, parent.width - Theme.gapHuge)
                height: parent.height
                visible: actions.sidebarShown
                page: actions.page
                fetches: root.fetching.queue.summary
                onVisibleChanged: root.keepKeyboard(this)
                onPageRequested: page => actions.show(page)

                ConversationColumn {
                    id: column

                    objectName: "conversationColumn"
                    anchors.fill: parent
                    conversations: root.conversations
                    onOpened: actions.show(PageName.Conversation)
                    onChosen: actions.showBeside()
                    onTyped: text => actions.type(text)
                    onLeaveRequested: actions.show(PageName.Conversation)
                }
            }
            // Made when it is first shown, since the panel has more items than the rest of the window.
            Loader {
                id: panel

                readonly property bool shown: actions.panelShown

                objectName: "pressurePanel"
                anchors.right: parent.right
                width: Math.min(Theme.px(360), parent.width - Theme.gapHuge)
                height: parent.height
                visible: shown
                active: false
                onShownChanged: {
                    if (shown)
                        active = true;
                }
                onVisibleChanged: root.keepKeyboard(this)

                sourceComponent: PressurePanel {
                    monitor: root.pressure.monitor // qmllint disable unqualified
                    placement: root.pressure.placement // qmllint disable unqualified
                    events: root.pressure.events // qmllint disable unqualified
                    doctor: root.pressure.doctor // qmllint disable unqualified
                    devices: root.pressure.devices // qmllint disable unqualified
                    load: root.serverLoad // qmllint disable unqualified
                    chat: root.chat // qmllint disable unqualified
                    onConversationRequested: conversation => root.goTo(conversation) // qmllint disable unqualified
                    onCloseRequested: actions.togglePanel() // qmllint disable unqualified
                    onApartToggled: root.settings.panelShown.value = 2 // qmllint disable unqualified
                }
            }
        }
    }

    // The panel in a window of its own, for example on a second monitor.
    Loader {
        objectName: "panelWindow"
        active: actions.panelApart
        sourceComponent: PressureWindow {
            pressure: root.pressure // qmllint disable unqualified
            load: root.serverLoad // qmllint disable unqualified
            chat: root.chat // qmllint disable unqualified
            onConversationRequested: conversation => root.goTo(conversation) // qmllint disable unqualified
            onBackRequested: root.settings.panelShown.value = 1 // qmllint disable unqualified
            onHideRequested: root.settings.panelShown.value = 0 // qmllint disable unqualified
        }
    }
    DropOverlay {
        objectName: "dropOverlay"
        anchors.fill: parent
        models: root.models
        attachments: root.composer.attachments
        onAttached: actions.show(PageName.Conversation)
    }
}
