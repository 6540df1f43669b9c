// Offers what can be done with one folder.
import QtQuick
import Spillway.Ui.Components

PopupMenu {
    id: root

    property string folder

    signal renameRequested(string folder)
    signal removeRequested(string folder)

    function show(which: string, item: Item, x: real, y: real) {
        folder = which;
        popup(item, x, y);
    }

    objectName: "folderMenu"

    PopupMenuItem {
        objectName: "renameFolderItem"
        text: qsTr("Rename")
        shortcutText: "F2"
        icon.source: "qrc:/icons/rename.svg"
        onTriggered: root.renameRequested(root.folder)
    }
    PopupMenuItem {
        objectName: "removeFolderItem"
        text: qsTr("Remove the folder")
        shortcutText: qsTr("Del")
        icon.source: "qrc:/icons/remove.svg"
        onTriggered: root.removeRequested(root.folder)
    }
}
