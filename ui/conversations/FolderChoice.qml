// Offers where to move a conversation: out of its folder, into an existing folder, or into a new one.
pragma ComponentBehavior: Bound

import QtQuick
import Spillway.App
import Spillway.Ui.Components

PopupMenu {
    id: root

    required property ConversationsController conversations

    property string conversation
    property string folder // that the conversation is in

    signal newFolderMade(string folder)

    function show(which: string, where: string, item: Item, x: real, y: real) {
        conversation = which;
        folder = where;
        popup(item, x, y);
    }

    objectName: "folderChoice"

    PopupMenuItem {
        objectName: "newFolderItem"
        text: qsTr("New folder")
        icon.source: "qrc:/icons/new.svg"
        onTriggered: root.newFolderMade(root.conversations.moveToNewFolder(root.conversation))
    }
    PopupMenuItem {
        objectName: "noFolderItem"
        text: qsTr("Out of the folder")
        icon.source: "qrc:/icons/undo.svg"
        visible: root.folder !== ""
        onTriggered: root.conversations.moveToFolder(root.conversation, "")
    }
    Instantiator {
        model: root.conversations.list.folders
        delegate: PopupMenuItem {
            required property string modelData

            objectName: "folderItem"
            text: modelData
            enabled: modelData !== root.folder
            icon.source: enabled ? "qrc:/icons/folder.svg" : "qrc:/icons/check.svg"
            onTriggered: root.conversations.moveToFolder(root.conversation, modelData)
        }
        onObjectAdded: (index, object) => root.insertItem(2 + index, object as PopupMenuItem)
        onObjectRemoved: (index, object) => root.removeItem(object as PopupMenuItem)
    }
}
