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

    property bool answering: false
    readonly property bool popupOpen: attachmentText.visible
    readonly property bool atLatest: view.pinned

    signal leaveRequested // the keyboard has nothing to do here any more

    // Scrolls to what was found in a message, whatever versions lead to it, and marks the message for a moment.
    function showMessage(message: string, excerpt: string) {
        if (!root.chat.showMessage(message))
            return;
        view.pinned = false;
        found.message = message;
        found.place = root.chat.placeOf(message, excerpt);
        found.held = true;
        found.restart();
        view.toFound();
    }
    function followAnswer() {
        found.held = false;
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
        onEnded: root.leaveRequested()
    }
    Timer {
        id: found

        property string message: ""
        property messagePlace place
        property bool held: false // the view keeps to it, while the heights around it become known

        interval: 1200
        onTriggered: {
            message = "";
            held = false;
        }
    }
    Connections {
        target: root.chat

        function onOpened() {
            if (editing.message !== "")
                editing.end();
            if (root.activeFocus)
                root.leaveRequested();
            root.answering = root.chat.busy;
            root.followAnswer();
        }
        // However it was asked for: a message was sent, edited, answered again.
        function onStateChanged() {
            if (root.chat.busy && !root.answering) {
                found.held = false;
                view.pinned = true;
                follow.start(); // the messages come after the state
            }
            root.answering = root.chat.busy;
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
        function toFound() {
            const row = root.chat.messages.rowOf(found.message);
            if (row < 0)
                return;
            positionViewAtIndex(row, ListView.Beginning);
            const item = itemAtIndex(row) as MessageDelegate;
            const above = item.y - contentY;
            const within = item.yOf(found.place.block, found.place.share);
            const distance = within > height / 2 ? above + within - height / 3 : Math.min(0, above - topMargin);
            contentY = bounded(contentY + distance);
        }
        // The message that is switched stays where it is, whatever follows it in the other version.
        function showVersion(row: int, message: string, step: int) {
            const top = itemAtIndex(row).y - contentY;
            pinned = found.held = false;
            if (step < 0)
                root.chat.previousVersion(message);
            else
                root.chat.nextVersion(message);
            positionViewAtIndex(row, ListView.Beginning);
            scroll(itemAtIndex(row).y - contentY - top);
        }
        function bounded(y: real): real {
            return Math.max(originY - topMargin, Math.min(originY + contentHeight + bottomMargin - height, y));
        }
        function scroll(distance: real) {
            found.held = false;
            pinned = false; // before the view moves: what it then finds out about its height must not take it back
            contentY = bounded(contentY + distance);
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
        onMovementStarted: {
            pinned = false;
            found.held = false;
        }
        onMovementEnded: pinned = nearEnd()
        onContentHeightChanged: {
            if (pinned || found.held)
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
            onVersionRequested: step => view.showVersion(index, messageId, step)
            onLinkRequested: link => linkDialog.ask(link)
            onAttachmentShown: (name, text, characters) => attachmentText.show(name, text, characters)
        }

        // Once per frame, however many blocks have grown.
        Timer {
            id: follow
            interval: 0
            onTriggered: {
                if (view.pinned)
                    view.toLatest();
                else if (found.held)
                    view.toFound();
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
