// The messages. Stays at the newest text until the user scrolls away from it.
pragma ComponentBehavior: Bound

import QtQuick
import Spillway.App
import Spillway.Ui.Attachments
import Spillway.Ui.Components
import Spillway.Ui.Theme

FocusScope {
    id: root

    required property ChatController chat
    required property int columnWidth

    readonly property bool popupOpen: attachmentText.visible
    readonly property bool atLatest: view.pinned

    signal editEnded

    // Scrolls to a message, whatever versions lead to it, and marks it for a moment.
    function showMessage(message: string) {
        if (!root.chat.showMessage(message))
            return;
        view.pinned = false;
        view.positionViewAtIndex(root.chat.messages.rowOf(message), ListView.Beginning);
        found.message = message;
        found.restart();
    }
    function followAnswer() {
        view.pinned = true;
        view.toLatest();
    }

    // The last thing the user said; its delegate may not be there yet.
    function editLast() {
        const messages = chat.messages;
        for (let row = view.count - 1; row >= 0; --row) {
            const index = messages.index(row, 0);
            if (messages.data(index, MessageModel.AuthorRole) !== MessageModel.User)
                continue;
            view.pinned = false;
            view.positionViewAtIndex(row, ListView.Contain);
            editing.begin(messages.data(index, MessageModel.MessageIdRole), messages.data(index, MessageModel.RawTextRole));
            return;
        }
    }

    AttachmentText {
        id: attachmentText

        objectName: "sentAttachmentText"
    }
    MessageEditing {
        id: editing
        onEnded: root.editEnded()
    }
    Timer {
        id: found

        property string message: ""

        interval: 1200
        onTriggered: message = ""
    }
    Connections {
        target: root.chat

        function onOpened() {
            if (editing.message !== "")
                editing.end();
            root.followAnswer();
        }
    }

    ListView {
        id: view

        property bool pinned: true

        function nearEnd(): bool {
            return contentY + height >= originY + contentHeight - 24;
        }
        function toLatest() {
            if (count > 0)
                positionViewAtEnd();
        }
        function scroll(distance: real) {
            const lowest = Math.max(originY, originY + contentHeight - height);
            pinned = false; // before the view moves: what it then finds out about its height must not take it back
            contentY = Math.max(originY, Math.min(lowest, contentY + distance));
            pinned = nearEnd();
        }

        objectName: "messageView"
        anchors.fill: parent
        topMargin: Theme.gapLarge
        bottomMargin: Theme.gapLarge
        clip: true
        spacing: Theme.gapSmall // and the height of their footers
        reuseItems: false
        boundsBehavior: Flickable.StopAtBounds
        activeFocusOnTab: true
        model: root.chat.messages

        // From the moment the user moves the view (wheel, finger, bar) it stays where it is put; text that grows must not
        // pull at it. At the end it follows again.
        onMovementStarted: pinned = false
        onMovementEnded: pinned = nearEnd()
        onContentHeightChanged: {
            if (pinned)
                follow.start();
        }
        onHeightChanged: {
            if (pinned)
                follow.start();
        }

        Keys.onUpPressed: scroll(-60)
        Keys.onDownPressed: scroll(60)
        Keys.onPressed: event => {
            switch (event.key) {
            case Qt.Key_PageUp: scroll(-0.9 * height); break;
            case Qt.Key_PageDown: scroll(0.9 * height); break;
            case Qt.Key_Home: scroll(-contentHeight - height); break;
            case Qt.Key_End: root.followAnswer(); break;
            default: return;
            }
            event.accepted = true;
        }

        Accessible.role: Accessible.List
        Accessible.name: qsTr("Conversation")

        delegate: MessageDelegate {
            width: view.width
            chat: root.chat
            editing: editing
            columnWidth: root.columnWidth
            last: index === view.count - 1
            found: messageId === found.message
            onLinkRequested: link => linkDialog.ask(link)
            onAttachmentShown: (name, text) => attachmentText.show(name, text)
        }

        // Once per frame, however many blocks have grown.
        Timer {
            id: follow
            interval: 0
            onTriggered: {
                if (view.pinned)
                    view.toLatest();
            }
        }
    }

    ListScrollBar {
        view: view
        onPressedChanged: view.pinned = !pressed && view.nearEnd()
    }

    LinkDialog { id: linkDialog }

    IconButton {
        objectName: "latestButton"
        anchors.bottom: parent.bottom
        anchors.bottomMargin: Theme.gap
        anchors.horizontalCenter: parent.horizontalCenter
        visible: !view.pinned && !view.nearEnd()
        name: qsTr("Jump to the latest")
        source: "qrc:/icons/latest.svg"
        filled: true
        onClicked: root.followAnswer()
    }
}
