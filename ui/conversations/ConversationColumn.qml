// Shows the column of conversations: the button for a new one, the search, the list by day or what was found, and the
// button that takes a deletion back.
import QtQuick
import QtQuick.Layouts
import Spillway.App
import Spillway.Ui.Components
import Spillway.Ui.Theme

FocusScope {
    id: root

    required property ConversationsController conversations

    signal opened // a conversation was chosen: the keyboard goes to it
    signal chosen // chosen with the mouse: the keyboard stays in the list
    signal typed(string text) // typed here, but meant for the message
    signal leaveRequested // Esc in the search field

    function takeFocus() {
        if (conversations.searching)
            (found.count > 0 ? found : search).forceActiveFocus(Qt.ShortcutFocusReason);
        else if (list.count > 0)
            list.forceActiveFocus(Qt.ShortcutFocusReason);
    }
    function focusSearch() {
        search.forceActiveFocus(Qt.ShortcutFocusReason);
        search.selectAll();
    }
    /// Renames the conversation with the keyboard, else the shown one.
    function renameCurrent() {
        const inList = list.activeFocus && list.visible;
        search.clear();
        if (inList)
            list.renameAtKeyboard();
        else
            list.rename(conversations.list.current);
    }
    /// Deletes the conversation with the keyboard. Only while the list has it: elsewhere Del means something else.
    function removeCurrent() {
        if (list.activeFocus && list.visible)
            list.removeAtKeyboard();
    }

    function removeShown() {
        conversations.remove(conversations.list.current);
    }

    Accessible.role: Accessible.Grouping
    Accessible.name: qsTr("Conversations")

    Shortcut {
        sequences: [StandardKey.Undo] // qmllint disable unqualified
        enabled: root.conversations.canUndo && root.visible
        onActivated: root.conversations.undo()
    }
    // Delays the sign of a search, which a short one does not need.
    Timer {
        id: patience

        property bool over: false

        interval: 400
        running: root.conversations.looking
        onRunningChanged: {
            if (running)
                over = false;
        }
        onTriggered: over = true
    }
    ConversationFiles {
        id: files

        conversations: root.conversations
    }

    ColumnLayout {
        anchors.fill: parent
        anchors.margins: Theme.gapSmall
        spacing: Theme.gapSmall

        ColumnHeader {
            Layout.fillWidth: true
            Layout.fillHeight: false
            conversations: root.conversations
            onOpened: root.opened()
            onImportRequested: files.importFile()
            onExportAllRequested: format => files.exportAll(format)
        }
        ConversationSearch {
            id: search

            Layout.fillWidth: true
            visible: root.conversations.list.count > 0 || text !== ""
            onTextChanged: root.conversations.searchText = text
            onDownRequested: {
                if (root.conversations.searching)
                    found.forceActiveFocus(Qt.TabFocusReason);
                else
                    list.forceActiveFocus(Qt.TabFocusReason);
            }
            onFirstRequested: {
                root.conversations.searchNow();
                if (!root.conversations.looking) // the list still has the results for other words
                    found.open(0);
            }
            onLeaveRequested: root.leaveRequested()
        }
        Item {
            Layout.fillWidth: true
            Layout.fillHeight: true
            Layout.rightMargin: -Theme.gapSmall // leaves the scroll bar room beside the rows

            ConversationList {
                id: list

                anchors.fill: parent
                visible: !root.conversations.searching
                conversations: root.conversations
                onOpened: root.opened()
                onChosen: root.chosen()
                onTyped: text => root.typed(text)
                onExportRequested: (conversation, format) => files.exportOne(conversation, format)
            }
            SearchList {
                id: found

                anchors.fill: parent
                visible: root.conversations.searching
                conversations: root.conversations
                onOpened: root.opened()
                onUpRequested: search.forceActiveFocus(Qt.BacktabFocusReason)
            }
            // In the space between the words and the list, so that nothing moves.
            ProgressLine {
                objectName: "searchSign"
                anchors.bottom: parent.top
                anchors.bottomMargin: 2
                width: parent.width - Theme.gapSmall
                implicitHeight: Theme.px(3)
                visible: root.conversations.looking && patience.over
                indeterminate: true
                Accessible.name: qsTr("Searching")
            }
            NothingHere {
                objectName: "nothingYet"
                anchors.centerIn: parent
                anchors.horizontalCenterOffset: -Theme.gapTiny
                width: parent.width - 2 * Theme.gap - Theme.gapSmall
                visible: list.visible && root.conversations.list.count === 0
                source: "qrc:/icons/conversations.svg"
                headline: qsTr("No conversations yet")
                detail: qsTr("What you talk about is kept here, on this computer only.")
            }
            NothingHere {
                objectName: "nothingFound"
                anchors.centerIn: parent
                anchors.horizontalCenterOffset: -Theme.gapTiny
                width: parent.width - 2 * Theme.gap - Theme.gapSmall
                visible: found.visible && root.conversations.results.count === 0 && !root.conversations.looking
                source: "qrc:/icons/search.svg"
                headline: qsTr("Nothing found")
                detail: qsTr("All the words have to be in one title or message; the last one may be a beginning.")
            }
        }
        ColumnNotices {
            Layout.fillWidth: true
            Layout.fillHeight: false // a Layout fills the height by default
            visible: root.conversations.canUndo || root.conversations.importing || root.conversations.sentence !== ""
            conversations: root.conversations
        }
    }
}
