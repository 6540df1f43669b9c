// Shows the folders, and the conversations by day. The keys: up and down, Home, End, Enter opens, left and right close
// and open a folder, F2 renames, Del deletes, the menu key. A click leaves the keyboard here, so that these keys act on
// the row; typed text goes into the message.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Controls
import Spillway.App
import Spillway.Ui.Components
import Spillway.Ui.Theme

ListView {
    id: root

    required property ConversationsController conversations

    // Made by hand: written in place, the component would be bound, and Qt 6.4 makes no sections from a bound one.
    readonly property Component heading: Qt.createComponent("DayHeading.qml", Component.PreferSynchronous, root)
    property string renaming // id of the conversation whose title is being changed
    property string renamingFolder // folder whose name is being changed

    signal exportRequested(string conversation, int format)
    signal opened // the keyboard goes to it
    signal chosen // with the mouse: the keyboard stays here
    signal typed(string text)

    function openAtKeyboard() {
        const id = conversations.list.idAt(currentIndex);
        const folder = conversations.list.folderAt(currentIndex);
        if (id !== "") {
            conversations.open(id);
            opened();
        } else if (folder !== "") {
            setFolderOpen(folder, !conversations.list.isFolderOpen(folder));
        }
    }
    function setFolderOpen(folder: string, open: bool) {
        const name = folder; // the row may show another folder afterwards
        conversations.list.setFolderOpen(name, open);
        currentIndex = conversations.list.rowOfFolder(name);
    }
    /// Opens or closes a folder by keys, as in a tree: left goes to the folder first, and then closes it.
    function unfoldAtKeyboard(open: bool) {
        const folder = conversations.list.folderAt(currentIndex);
        const isFolder = conversations.list.idAt(currentIndex) === "";
        if (folder !== "" && (isFolder || !open))
            setFolderOpen(folder, open || !isFolder);
    }
    function renameFolder(folder: string) {
        const row = conversations.list.rowOfFolder(folder);
        if (row < 0)
            return;
        currentIndex = row;
        positionViewAtIndex(row, ListView.Contain);
        renamingFolder = folder;
    }
    /// Renames a folder; the keyboard stays with it, wherever the new name puts it in the list.
    function giveFolderName(folder: string, name: string) {
        const given = conversations.renameFolder(folder, name);
        currentIndex = conversations.list.rowOfFolder(given);
    }
    function renameAtKeyboard() {
        const id = conversations.list.idAt(currentIndex);
        if (id === "")
            renameFolder(conversations.list.folderAt(currentIndex));
        else
            rename(id);
    }
    function rename(conversation: string) {
        conversations.list.reveal(conversation);
        const row = conversations.list.rowOf(conversation);
        if (row < 0)
            return;
        currentIndex = row;
        positionViewAtIndex(row, ListView.Contain);
        renaming = conversation;
    }
    function removeAtKeyboard() {
        remove(conversations.list.idAt(currentIndex), conversations.list.folderAt(currentIndex));
    }
    function remove(conversation: string, folder: string) {
        if (conversation === "")
            conversations.removeFolder(folder);
        else
            conversations.remove(conversation);
    }
    function showMenu() {
        const item = itemAtIndex(currentIndex);
        if (item)
            showMenuOf(item, Theme.gap, item.height);
    }
    function showMenuOf(item: Item, x: real, y: real) {
        const row = item as ConversationRow;
        if (row.isFolder)
            folderMenu.show(row.folder, item, x, y);
        else
            menu.show(row.conversationId, row.folder, row.pinned, item, x, y);
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
    rightMargin: Theme.gapSmall // room for the scroll bar
    spacing: 1

    Accessible.role: Accessible.List
    Accessible.name: qsTr("Conversations")

    onActiveFocusChanged: {
        if (activeFocus && (currentIndex < 0 || currentIndex >= count))
            currentIndex = Math.max(0, conversations.list.currentRow);
    }
    Keys.onReturnPressed: openAtKeyboard()
    Keys.onEnterPressed: openAtKeyboard()
    Keys.onPressed: event => {
        switch (event.key) {
        case Qt.Key_Home: currentIndex = 0; break;
        case Qt.Key_End: currentIndex = count - 1; break;
        case Qt.Key_PageUp: currentIndex = Math.max(0, currentIndex - Math.floor(height / Theme.px(37))); break;
        case Qt.Key_PageDown: currentIndex = Math.min(count - 1, currentIndex + Math.floor(height / Theme.px(37))); break;
        case Qt.Key_Left: unfoldAtKeyboard(false); break;
        case Qt.Key_Right: unfoldAtKeyboard(true); break;
        case Qt.Key_F2: renameAtKeyboard(); break;
        case Qt.Key_Delete:
            if (!event.isAutoRepeat) // a key that is held would delete one after another
                removeAtKeyboard();
            break;
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
        renaming: isFolder ? root.renamingFolder === folder : root.renaming === conversationId
        keyboardHere: root.activeFocus && root.currentIndex === index && root.renaming === "" && root.renamingFolder === ""
        menuOpen: isFolder ? folderMenu.opened && folderMenu.folder === folder : menu.opened && menu.conversation === conversationId
        onOpenRequested: {
            if (isFolder) {
                root.setFolderOpen(folder, !folderOpen);
                root.forceActiveFocus(Qt.MouseFocusReason);
                return;
            }
            const id = conversationId; // this row may be removed below
            root.conversations.open(id);
            root.currentIndex = root.conversations.list.rowOf(id); // leaving an empty one may have removed its row
            root.forceActiveFocus(Qt.MouseFocusReason);
            root.chosen();
        }
        onRemoveRequested: root.remove(conversationId, folder)
        onMenuRequested: (item, x, y) => root.showMenuOf(item, x, y)
        onRenamed: title => {
            if (isFolder)
                root.giveFolderName(folder, title);
            else
                root.conversations.rename(conversationId, title);
        }
        onRenameEnded: {
            root.renaming = "";
            root.renamingFolder = "";
        }
    }

    ScrollBar.vertical: ThinScrollBar { padding: 1 }

    ConversationMenu {
        id: menu

        conversations: root.conversations
        onRenameRequested: conversation => root.rename(conversation)
        onFolderRequested: (conversation, folder) => {
            const row = root.itemAtIndex(root.conversations.list.rowOf(conversation));
            if (row)
                folderChoice.show(conversation, folder, row, Theme.gap, row.height);
        }
        onExportRequested: (conversation, format) => root.exportRequested(conversation, format)
    }
    FolderChoice {
        id: folderChoice

        conversations: root.conversations
        onNewFolderMade: folder => root.renameFolder(folder)
    }
    FolderMenu {
        id: folderMenu

        onRenameRequested: folder => root.renameFolder(folder)
        onRemoveRequested: folder => root.conversations.removeFolder(folder)
    }
}
