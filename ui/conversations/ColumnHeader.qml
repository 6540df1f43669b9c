// Shows the top of the column: the button for a new conversation, and the menu for all conversations.
import QtQuick
import QtQuick.Layouts
import Spillway.App
import Spillway.Ui.Components
import Spillway.Ui.Theme

RowLayout {
    id: root

    required property ConversationsController conversations

    signal opened // a new conversation: the keyboard goes to it
    signal importRequested
    signal exportAllRequested(int format)

    spacing: Theme.gapTiny

    NavButton {
        id: fresh

        objectName: "columnNew"
        text: qsTr("New conversation")
        icon.source: "qrc:/icons/new.svg"
        onClicked: {
            root.conversations.openNew();
            root.opened();
        }

        Tip {
            visible: fresh.hovered && !fresh.down
            text: qsTr("Ctrl+N")
        }
    }
    IconButton {
        id: more

        objectName: "columnMore"
        name: qsTr("Import and export")
        source: "qrc:/icons/more.svg"
        onClicked: menu.popup(more, 0, more.height + 2)

        PopupMenu {
            id: menu

            objectName: "columnMenu"
            menuWidth: Theme.px(230)

            PopupMenuItem {
                objectName: "importItem"
                text: qsTr("Import…")
                icon.source: "qrc:/icons/import.svg"
                enabled: !root.conversations.busy
                onTriggered: root.importRequested()
            }
            PopupMenuItem {
                objectName: "exportAllJson"
                text: qsTr("Export all as JSON…")
                icon.source: "qrc:/icons/export.svg"
                enabled: !root.conversations.busy && root.conversations.list.count > 0
                onTriggered: root.exportAllRequested(ConversationsController.Json)
            }
            PopupMenuItem {
                objectName: "exportAllMarkdown"
                text: qsTr("Export all as Markdown…")
                icon.source: "qrc:/icons/export.svg"
                enabled: !root.conversations.busy && root.conversations.list.count > 0
                onTriggered: root.exportAllRequested(ConversationsController.Markdown)
            }
        }
    }
}
