// Carries out what is asked of the window: another page, the sidebar, and what the table of shortcuts names.
import QtQuick
import Spillway.App
import Spillway.Ui.Conversations

QtObject {
    id: root

    required property ChatController chat
    required property ModelController models
    required property SettingsController settings
    required property PlacementController placement
    required property PageStack pages
    required property ConversationColumn column
    required property bool narrow  // too narrow for two columns
    required property bool cramped // too narrow for the pressure panel beside the page

    property int page: PageName.Conversation
    property bool sidebarOver: false // in a narrow window: shown over the page
    readonly property bool sidebarShown: narrow ? sidebarOver : settings.sidebarShown.value === 1
    property bool panelOver: false // where it is cramped: shown over the page
    readonly property bool panelApart: settings.panelShown.value === 2 // in a window of its own
    readonly property bool panelShown: cramped ? panelOver : settings.panelShown.value === 1
    readonly property bool beside: panelShown && !cramped
    readonly property bool escapes: sidebarOver || panelOver || page !== PageName.Conversation || pages.chatPage.opening || chat.turn.busy || chat.comparison.shown

    readonly property bool modelOffered: models.phase === ModelController.Offered

    signal openModelRequested
    signal modelMenuRequested
    signal sheetRequested

    onNarrowChanged: sidebarOver = false
    onCrampedChanged: panelOver = false
    // The question whether to open the model is on the conversation's page.
    onModelOfferedChanged: {
        if (modelOffered)
            show(PageName.Conversation);
    }

    function leaveColumns() {
        sidebarOver = false;
        panelOver = false;
    }
    function show(which: int) {
        leaveColumns();
        page = which;
        pages.takeFocus();
    }
    // Shows the conversation. The keyboard stays in the column, unless that is hidden now; in both cases Del still
    // deletes the chosen conversation.
    function showBeside() {
        if (sidebarOver) {
            show(PageName.Conversation);
            pages.chatPage.meanRow();
        } else {
            page = PageName.Conversation;
        }
    }
    // Deletes the shown conversation. Shows the column first, since it has the button that takes this back.
    function removeShown() {
        showSidebar();
        column.removeShown();
    }
    function type(text: string) {
        show(PageName.Conversation);
        pages.chatPage.type(text);
    }
    function toggleSidebar() {
        if (narrow) {
            sidebarOver = !sidebarOver;
            if (sidebarOver)
                column.takeFocus(); // the page below it cannot be reached
        } else {
            settings.sidebarShown.value = settings.sidebarShown.value === 1 ? 0 : 1;
        }
    }
    function togglePanel() {
        if (cramped && !panelApart)
            panelOver = !panelOver;
        else
            settings.panelShown.value = settings.panelShown.value === 0 ? 1 : 0;
    }
    function showPanel() {
        if (!panelShown && !panelApart)
            togglePanel();
    }
    function showSidebar() {
        if (!sidebarShown)
            toggleSidebar();
    }
    function showConversationSettings() {
        show(PageName.Conversation);
        pages.chatPage.showSettings();
    }
    function startOver() {
        chat.newConversation();
        show(PageName.Conversation);
    }
    // Esc: closes columns over the page, else leaves another page, else stops loading a model, else stops the answer,
    // else closes the view of its versions.
    function stepBack() {
        if (sidebarOver || panelOver)
            leaveColumns();
        else if (page !== PageName.Conversation)
            show(PageName.Conversation);
        else if (pages.chatPage.opening)
            models.cancel();
        else if (chat.turn.busy)
            chat.turn.stop();
        else
            chat.comparison.close();
    }

    // Carries out an action of the table of shortcuts. Answers are made and exchanged only where they are seen.
    function perform(action: string) {
        const seen = page === PageName.Conversation;
        switch (action) {
        case "newConversation": startOver(); break;
        case "search": showSidebar(); column.focusSearch(); break;
        case "rename": showSidebar(); column.renameCurrent(); break;
        case "remove": column.removeCurrent(); break;
        case "toggleSidebar": toggleSidebar(); break;
        case "togglePanel": togglePanel(); break;
        case "toggleYield": placement.toggleYield(); break;
        case "focusInput": show(PageName.Conversation); break;
        case "escape": stepBack(); break;
        case "conversationSettings": showConversationSettings(); break;
        case "attach": show(PageName.Conversation); pages.chatPage.attach(); break;
        case "regenerate": if (seen) chat.turn.retry(); break;
        case "copyCode": chat.clipboard.copyLastCode(); break;
        case "copyAnswer": chat.clipboard.copyLastAnswer(); break;
        case "previousVersion": if (seen) chat.versions.step(-1); break;
        case "nextVersion": if (seen) chat.versions.step(1); break;
        case "openModel": openModelRequested(); break;
        case "switchModel": modelMenuRequested(); break;
        case "showModels": show(PageName.Models); break;
        case "showExperiments": show(PageName.Experiments); break;
        case "showSettings": show(PageName.Settings); break;
        case "larger": settings.fontPercent.value += 10; break;
        case "smaller": settings.fontPercent.value -= 10; break;
        case "usualSize": settings.fontPercent.reset(); break;
        case "showShortcuts": sheetRequested(); break;
        case "quit": Qt.quit(); break;
        }
    }
}
