// Shows the messages one under the other. It stays at the newest text until the user scrolls away from it, and can be
// led to what a search found.
pragma ComponentBehavior: Bound

import QtQuick
import Spillway.App
import Spillway.Ui.Components
import Spillway.Ui.Theme

ListView {
    id: root

    required property ChatController chat
    required property MessageEditing editing
    required property int columnWidth

    property bool pinned: true // at the newest text
    property var unfolded: [] // ids of long questions that are shown whole

    signal linkRequested(string link)
    signal attachmentShown(string name, string text, int characters)
    signal leaveRequested // the keyboard should go elsewhere

    function fold(message: string, folded: bool) {
        unfolded = folded ? unfolded.filter(id => id !== message) : unfolded.concat([message]);
    }
    function nearEnd(): bool {
        return contentY + height >= originY + contentHeight - 24;
    }
    function followAnswer() {
        found.held = false;
        pinned = true;
        toLatest();
    }
    // Does the same at the next frame, since messages are added after the signal that announces them.
    function followSoon() {
        found.held = false;
        pinned = true;
        follow.start();
    }
    function toLatest() {
        if (count > 0)
            positionViewAtEnd();
    }
    function showRow(row: int) {
        pinned = false;
        positionViewAtIndex(row, ListView.Contain);
    }
    function showFound(message, place) {
        pinned = false;
        found.message = message;
        found.place = place;
        found.held = true;
        found.restart();
        toFound();
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
    // Shows another version of a message, which keeps its place in the view.
    function showVersion(row: int, message: string, step: int) {
        const top = itemAtIndex(row).y - contentY;
        pinned = found.held = false;
        if (step < 0)
            root.chat.versions.showPrevious(message);
        else
            root.chat.versions.showNext(message);
        positionViewAtIndex(row, ListView.Beginning);
        scroll(itemAtIndex(row).y - contentY - top);
    }
    function bounded(y: real): real {
        return Math.max(originY - topMargin, Math.min(originY + contentHeight + bottomMargin - height, y));
    }
    function scroll(distance: real) {
        found.held = false;
        pinned = false; // before the view moves, so that heights that become known then do not move it back
        contentY = bounded(contentY + distance);
        pinned = nearEnd();
    }

    topMargin: Theme.gapLarge
    bottomMargin: Theme.gapLarge
    clip: true
    spacing: Theme.gapSmall // the footers add to this
    reuseItems: false
    boundsBehavior: Flickable.StopAtBounds
    activeFocusOnTab: true
    model: chat.messages

    // From the moment the user moves the view (wheel, finger, bar) it stays in its place while text grows. Moved to the
    // end, it follows again.
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
    onVisibleChanged: {
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
        case Qt.Key_End: followAnswer(); break;
        default: return;
        }
        event.accepted = true;
    }

    Accessible.role: Accessible.List
    Accessible.name: qsTr("Conversation")

    delegate: MessageDelegate {
        width: ListView.view.width
        chat: root.chat
        editing: root.editing
        columnWidth: root.columnWidth
        last: index === root.count - 1
        found: messageId === found.message
        unfolded: root.unfolded.includes(messageId)
        onFoldRequested: folded => {
            root.pinned = false; // the question stays where it is
            root.fold(messageId, folded);
        }
        onVersionRequested: step => root.showVersion(index, messageId, step)
        onLinkRequested: link => root.linkRequested(link)
        onAttachmentShown: (name, text, characters) => root.attachmentShown(name, text, characters)
        onLeaveRequested: root.leaveRequested()
    }

    EnteredAnew {
        list: root
    }
    // Once per frame, however many blocks have grown.
    Timer {
        id: follow

        interval: 0
        onTriggered: {
            if (!root.visible)
                return; // another page covers it: messages that are not seen need not be made
            if (root.pinned)
                root.toLatest();
            else if (found.held)
                root.toFound();
        }
    }
    Timer {
        id: found

        property string message: ""
        property messagePlace place
        property bool held: false // the view stays at the found place while heights around it become known

        interval: 1200
        onTriggered: {
            message = "";
            held = false;
        }
    }
}
