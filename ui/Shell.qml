// The columns of the window and what works everywhere in it: pages, shortcuts, dropping a file.
import QtQuick
import QtQuick.Layouts
import Spillway.App
import Spillway.Ui.Chat
import Spillway.Ui.Components
import Spillway.Ui.Conversations
import Spillway.Ui.Models
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

    property int page: PageName.Conversation
    readonly property ChatPage chatPage: pages.chatPage
    readonly property bool narrow: width < Theme.px(860)
    property bool sidebarOver: false // in a narrow window: shown over the page
    readonly property bool sidebarShown: narrow ? sidebarOver : settings.sidebarShown.value === 1

    onNarrowChanged: sidebarOver = false

    function show(which: int) {
        sidebarOver = false;
        page = which;
        pages.takeFocus();
    }
    function toggleSidebar() {
        if (narrow)
            sidebarOver = !sidebarOver;
        else
            settings.sidebarShown.value = settings.sidebarShown.value === 1 ? 0 : 1;
    }
    function showSidebar() {
        if (!sidebarShown)
            toggleSidebar();
    }
    function showConversationSettings() {
        show(PageName.Conversation);
        root.chatPage.showSettings();
    }
    function openModel() {
        openDialog.open();
    }
    function startOver() {
        chat.newConversation();
        show(PageName.Conversation);
    }
    // Esc: first what is over the page, then the answer, then the page.
    function stepBack() {
        if (sidebarOver)
            sidebarOver = false;
        else if (page !== PageName.Conversation)
            show(PageName.Conversation);
        else if (chat.busy)
            chat.stop();
    }

    // What the window does at a shortcut of the table.
    function perform(action: string) {
        switch (action) {
        case "newConversation": startOver(); break;
        case "search": showSidebar(); column.focusSearch(); break;
        case "rename": showSidebar(); column.renameCurrent(); break;
        case "remove": column.removeCurrent(); break;
        case "toggleSidebar": toggleSidebar(); break;
        case "focusInput": show(PageName.Conversation); break;
        case "escape": stepBack(); break;
        case "conversationSettings": showConversationSettings(); break;
        case "attach": show(PageName.Conversation); root.chatPage.attach(); break;
        case "regenerate": chat.retry(); break;
        case "copyCode": chat.copyLastCode(); break;
        case "copyAnswer": chat.copyLastAnswer(); break;
        case "previousVersion": chat.stepVersion(-1); break;
        case "nextVersion": chat.stepVersion(1); break;
        case "openModel": openModel(); break;
        case "showModels": show(PageName.Models); break;
        case "showSettings": show(PageName.Settings); break;
        case "larger": settings.fontPercent.value += 10; break;
        case "smaller": settings.fontPercent.value -= 10; break;
        case "usualSize": settings.fontPercent.reset(); break;
        case "showShortcuts": sheet.visible ? sheet.close() : sheet.open(); break;
        case "quit": Qt.quit(); break;
        }
    }

    Connections {
        target: root.conversations

        function onMessageRequested(message: string, excerpt: string) {
            root.chatPage.showMessage(message, excerpt);
        }
    }

    OpenDialog {
        id: openDialog

        objectName: "openDialog"
        models: root.models
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
        escapes: !sheet.visible && !root.chatPage.popupOpen && (root.sidebarOver || root.page !== PageName.Conversation || root.chat.busy)
        onTriggered: action => root.perform(action)
    }
    ColumnLayout {
        anchors.fill: parent
        spacing: 0

        TopBar {
            objectName: "topBar"
            Layout.fillWidth: true
            models: root.models
            chat: root.chat
            settings: root.settings
            sidebarShown: root.sidebarShown
            table: shortcutTable
            onSidebarToggled: root.toggleSidebar()
            onOpenRequested: root.openModel()
            onNewRequested: root.startOver()
            onModelsRequested: root.show(PageName.Models)
            onConversationSettingsRequested: root.showConversationSettings()
        }

        // Columns: the conversations, the page; the pressure panel will come after it.
        Item {
            Layout.fillWidth: true
            Layout.fillHeight: true

            NoticeColumn {
                id: notices

                objectName: "notices"
                anchors.left: pages.left
                anchors.right: pages.right
                program: root.program
            }
            PageStack {
                id: pages

                anchors.fill: parent
                anchors.topMargin: notices.height
                anchors.leftMargin: root.sidebarShown && !root.narrow ? side.width : 0
                chat: root.chat
                composer: root.composer
                conversationSettings: root.conversationSettings
                models: root.models
                catalogue: root.catalogue
                settings: root.settings
                program: root.program
                log: root.log
                page: root.page
                onPageRequested: page => root.show(page)
                onOpenRequested: root.openModel()
                onNewRequested: root.startOver()
                onUndoRequested: root.conversations.undo()
            }
            // What the sidebar lies over does not take clicks.
            Rectangle {
                anchors.fill: parent
                visible: root.sidebarOver
                color: Qt.rgba(0, 0, 0, Theme.dark ? 0.5 : 0.25)

                MouseArea {
                    anchors.fill: parent
                    onClicked: root.sidebarOver = false
                }
            }
            SidePanel {
                id: side

                objectName: "sidePanel"
                width: Math.min(implicitWidth, parent.width - Theme.gapHuge)
                height: parent.height
                visible: root.sidebarShown
                page: root.page
                onPageRequested: page => root.show(page)

                ConversationColumn {
                    id: column

                    objectName: "conversationColumn"
                    anchors.fill: parent
                    conversations: root.conversations
                    onOpened: root.show(PageName.Conversation)
                    onLeaveRequested: root.show(PageName.Conversation)
                }
            }
        }
    }

    DropOverlay {
        objectName: "dropOverlay"
        anchors.fill: parent
        models: root.models
        attachments: root.composer.attachments
        onAttached: root.show(PageName.Conversation)
    }
}
