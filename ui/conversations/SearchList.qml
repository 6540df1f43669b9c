// Shows what was found. Enter opens the conversation at the message.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Controls
import Spillway.App
import Spillway.Ui.Components
import Spillway.Ui.Theme

ListView {
    id: root

    required property ConversationsController conversations

    signal opened
    signal upRequested // up from the first row

    function open(row: int) {
        if (row < 0 || row >= count)
            return;
        const results = conversations.results;
        conversations.open(results.conversationAt(row), results.messageAt(row), results.excerptAt(row));
        opened();
    }

    objectName: "searchList"
    clip: true
    model: conversations.results
    activeFocusOnTab: count > 0
    keyNavigationEnabled: true
    highlightMoveDuration: 0
    boundsBehavior: Flickable.StopAtBounds
    currentIndex: 0
    rightMargin: Theme.gapSmall // room for the scroll bar
    spacing: 1

    Accessible.role: Accessible.List
    Accessible.name: qsTr("Found")

    Keys.onReturnPressed: open(currentIndex)
    Keys.onEnterPressed: open(currentIndex)
    Keys.onUpPressed: event => {
        event.accepted = currentIndex <= 0;
        if (event.accepted)
            upRequested();
    }
    Keys.onPressed: event => {
        switch (event.key) {
        case Qt.Key_Home: currentIndex = 0; break;
        case Qt.Key_End: currentIndex = count - 1; break;
        default: return;
        }
        event.accepted = true;
    }

    delegate: SearchRow {
        width: ListView.view.width - root.rightMargin
        keyboardHere: root.activeFocus && root.currentIndex === index
        onOpenRequested: {
            root.currentIndex = index;
            root.open(index);
        }
    }

    ScrollBar.vertical: ThinScrollBar { padding: 1 }
}
