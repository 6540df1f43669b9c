// Shows the messages, with the dialogs that they open and a button that leads back to the newest.
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
    readonly property bool writing: activeFocus && editing.message !== "" // a message is being edited

    signal leaveRequested // the keyboard should go elsewhere

    // Shows the versions that a message belongs to, scrolls to the text that was found in it, and marks it for a
    // moment.
    function showMessage(message: string, excerpt: string) {
        if (root.chat.versions.showMessage(message))
            view.showFound(message, root.chat.placeOf(message, excerpt));
    }
    function followAnswer() {
        view.followAnswer();
    }

    // Edits the user's last message, whose delegate may not exist yet.
    function editLast() {
        const messages = chat.messages;
        for (let row = view.count - 1; row >= 0; --row) {
            const index = messages.index(row, 0);
            if (messages.data(index, MessageModel.AuthorRole) !== MessageModel.User)
                continue;
            view.showRow(row);
            editing.begin(messages.data(index, MessageModel.MessageIdRole), messages.data(index, MessageModel.RawTextRole),
                          messages.data(index, MessageModel.AttachmentsRole));
            return;
        }
    }

    AttachmentText {
        id: attachmentText

        objectName: "sentAttachmentText"
    }
    LinkDialog { id: linkDialog }
    MessageEditing {
        id: editing
        onEnded: root.leaveRequested()
    }
    Connections {
        target: root.chat

        function onOpened() {
            editing.leave();
            if (root.activeFocus)
                root.leaveRequested();
            root.answering = root.chat.turn.busy;
            view.followAnswer();
        }
    }
    Connections {
        target: root.chat.turn

        // Follows a new answer, whether its message was sent, edited or answered again.
        function onStateChanged() {
            if (root.chat.turn.busy && !root.answering)
                view.followSoon();
            root.answering = root.chat.turn.busy;
        }
    }
    MessageView {
        id: view

        objectName: "messageView"
        anchors.fill: parent
        chat: root.chat
        editing: editing
        columnWidth: root.columnWidth
        onLinkRequested: link => linkDialog.ask(link)
        onAttachmentShown: (name, text, characters) => attachmentText.show(name, text, characters)
        onLeaveRequested: root.leaveRequested()
    }
    ListScrollBar {
        view: view
        onPressedChanged: view.pinned = !pressed && view.nearEnd()
    }
    IconButton {
        objectName: "latestButton"
        anchors.bottom: parent.bottom
        anchors.bottomMargin: Theme.gap
        anchors.horizontalCenter: parent.horizontalCenter
        visible: !view.pinned && !view.nearEnd()
        name: qsTr("Jump to the latest")
        source: "qrc:/icons/latest.svg"
        filled: true
        onClicked: view.followAnswer()
    }
}
