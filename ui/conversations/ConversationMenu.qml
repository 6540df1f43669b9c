// Offers what can be done with one conversation.
import QtQuick
import Spillway.App
import Spillway.Ui.Components

PopupMenu {
    id: root

    required property ConversationsController conversations

    property string conversation
    property string folder
    property bool pinned

    signal folderRequested(string conversation, string folder)
    signal renameRequested(string conversation)
    signal exportRequested(string conversation, int format)

    function show(which: string, where: string, isPinned: bool, item: Item, x: real, y: real) {
        conversation = which;
        folder = where;
        pinned = isPinned;
        popup(item, x, y);
    }

    objectName: "conversationMenu"

    PopupMenuItem {
        objectName: "renameItem"
        text: qsTr("Rename")
        shortcutText: "F2"
        icon.source: "qrc:/icons/rename.svg"
        onTriggered: root.renameRequested(root.conversation)
    }
    PopupMenuItem {
        objectName: "pinItem"
        text: root.pinned ? qsTr("Unpin") : qsTr("Pin")
        icon.source: "qrc:/icons/pin.svg"
        onTriggered: root.conversations.setPinned(root.conversation, !root.pinned)
    }
    PopupMenuItem {
        objectName: "moveItem"
        text: qsTr("Move to folder…")
        icon.source: "qrc:/icons/folder.svg"
        onTriggered: root.folderRequested(root.conversation, root.folder)
    }
    PopupMenuItem {
        objectName: "exportMarkdownItem"
        text: qsTr("Export as Markdown…")
        icon.source: "qrc:/icons/export.svg"
        enabled: !root.conversations.busy
        onTriggered: root.exportRequested(root.conversation, ConversationsController.Markdown)
    }
    PopupMenuItem {
        objectName: "exportJsonItem"
        text: qsTr("Export as JSON…")
        icon.source: "qrc:/icons/export.svg"
        enabled: !root.conversations.busy
        onTriggered: root.exportRequested(root.conversation, ConversationsController.Json)
    }
    PopupMenuItem {
        objectName: "deleteItem"
        text: qsTr("Delete")
        shortcutText: qsTr("Del")
        icon.source: "qrc:/icons/delete.svg"
        dangerous: true
        onTriggered: root.conversations.remove(root.conversation)
    }
}
