// The conversations by day. The keys: up and down, Home, End, Enter opens, F2 renames, Del deletes, the menu key. A click
// leaves the keyboard here, so that they are meant for the row; what is typed is meant for the message.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Controls
import Spillway.App
import Spillway.Ui.Components
import Spillway.Ui.Theme

ListView {
    id: root

    required property ConversationsController conversations

    // Not written in place: there it would be bound, and Qt 6.4 makes no section of such a component.
    readonly property Component heading: Qt.createComponent("DayHeading.qml", Component.PreferSynchronous, root)
    property string renaming // the id of the one whose title is being changed

    signal exportRequested(string conversation, int format)
    signal opened // the keyboard goes there
    signal chosen // by the mouse: the keyboard stays
    signal typed(string text)

    function open(conversation: string) {
        conversations.open(conversation);
        opened();
    }
    function rename(conversation: string) {
        const row = conversations.list.rowOf(conversation);
        if (row < 0)
            return;
        currentIndex = row;
        positionViewAtIndex(row, ListView.Contain);
        renaming = conversation;
    }
    function removeAtKeyboard() {
        const id = conversations.list.idAt(currentIndex);
        if (id !== "")
            conversations.remove(id);
    }
    function showMenu() {
        const row = itemAtIndex(currentIndex) as ConversationRow;
        if (row)
            menu.show(row.conversationId, row.pinned, row, Theme.gap, row.height);
    }

    objectName: "conversationList"
    clip: true
    model: conversations.list
    activeFocusOnTab: count > 0
    keyNavigationEnabled: true
    highlightMoveDuration: 0
    boundsBehavior: Flickable.StopAtBounds
    reuseItems: true
    currentIndex: -1
    rightMargin: Theme.gapSmall // the scroll bar's
    spacing: 1

    Accessible.role: Accessible.List
    Accessible.name: qsTr("Conversations")

    onActiveFocusChanged: {
        if (activeFocus && (currentIndex < 0 || currentIndex >= count))
            currentIndex = Math.max(0, conversations.list.currentRow);
    }
    Keys.onReturnPressed: open(conversations.list.idAt(currentIndex))
    Keys.onEnterPressed: open(conversations.list.idAt(currentIndex))
    Keys.onPressed: event => {
        switch (event.key) {
        case Qt.Key_Home: currentIndex = 0; break;
        case Qt.Key_End: currentIndex = count - 1; break;
        case Qt.Key_PageUp: currentIndex = Math.max(0, currentIndex - Math.floor(height / Theme.px(37))); break;
        case Qt.Key_PageDown: currentIndex = Math.min(count - 1, currentIndex + Math.floor(height / Theme.px(37))); break;
        case Qt.Key_F2: rename(conversations.list.idAt(currentIndex)); break;
        case Qt.Key_Delete: removeAtKeyboard(); break;
        case Qt.Key_Menu: showMenu(); break;
        case Qt.Key_F10:
            if (event.modifiers & Qt.ShiftModifier)
                showMenu();
            break;
        default:
            const letters = event.text > " " && event.text !== "\u007f" && !(event.modifiers & (Qt.ControlModifier | Qt.AltModifier | Qt.MetaModifier));
            if (letters)
                typed(event.text);
            event.accepted = letters;
            return;
        }
        event.accepted = true;
    }

    section.property: "section"
    section.delegate: heading

    delegate: ConversationRow {
        width: ListView.view.width - root.rightMargin
        renaming: root.renaming === conversationId
        keyboardHere: root.activeFocus && root.currentIndex === index && root.renaming === ""
        menuOpen: menu.opened && menu.conversation === conversationId
        onOpenRequested: {
            const id = conversationId; // this row may go
            root.conversations.open(id);
            root.currentIndex = root.conversations.list.rowOf(id); // leaving another may have removed that one
            root.forceActiveFocus(Qt.MouseFocusReason);
            root.chosen();
        }
        onRemoveRequested: root.conversations.remove(conversationId)
        onMenuRequested: (item, x, y) => menu.show(conversationId, pinned, item, x, y)
        onRenamed: title => root.conversations.rename(conversationId, title)
        onRenameEnded: {
            root.renaming = "";
            root.forceActiveFocus(Qt.OtherFocusReason);
        }
    }

    ScrollBar.vertical: ThinScrollBar { padding: 1 }

    ConversationMenu {
        id: menu

        conversations: root.conversations
        onRenameRequested: conversation => root.rename(conversation)
        onExportRequested: (conversation, format) => root.exportRequested(conversation, format)
    }
}
