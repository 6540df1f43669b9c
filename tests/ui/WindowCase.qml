// A test of the whole window: a new Shell on a new set of controllers for each test function.
import QtQuick
import QtTest
import Spillway.App
import Spillway.Tests
import Spillway.Ui

TestCase {
    id: root

    property Item shell

    function makeWindow(script) {
        Bench.reset(script || {});
        showWindow();
    }
    // On what the bench holds already.
    function showWindow() {
        shell = shellComponent.createObject(root.parent);
        verify(shell);
        shell.forceActiveFocus();
    }
    function openModel() {
        Bench.openAtOnce("/models/tiny.gguf");
        tryVerify(() => Bench.models.current.known);
        tryCompare(part("composerField"), "activeFocus", true);
    }
    function part(name) {
        const item = findChild(shell, name) || seen(shell.Window.window.contentItem, name);
        verify(item, "there is no " + name);
        return item;
    }
    // What a Repeater made has no parent that findChild() knows, and a popup is not in the Shell.
    function seen(item, name) {
        if (item.objectName === name)
            return item;
        for (let i = 0; i < item.children.length; ++i) {
            const found = seen(item.children[i], name);
            if (found)
                return found;
        }
        return null;
    }
    function click(item) {
        tryCompare(item, "visible", true);
        // What has just appeared is put in its place with the next frame, which a busy machine is late with.
        let before = null;
        tryVerify(() => {
            const now = item.mapToItem(null, item.width / 2, item.height / 2);
            const rests = before && Math.abs(now.x - before.x) < item.width / 4 && Math.abs(now.y - before.y) < item.height / 4;
            before = now;
            if (!rests)
                wait(50);
            return rests;
        });
        mouseClick(item);
    }
    function type(text) {
        for (const letter of text)
            keyClick(letter);
    }
    function ask(text) {
        type(text);
        keyClick(Qt.Key_Return);
    }
    function lastMessage(role) {
        const messages = Bench.chat.messages;
        return messages.data(messages.index(messages.count - 1, 0), role);
    }
    function lastText() { return lastMessage(MessageModel.TextRole); }
    function lastStatus() { return lastMessage(MessageModel.StatusRole); }
    function message(row) {
        return part("messageView").itemAtIndex(row);
    }
    function messagePart(name, row) {
        // of the newest message, unless said otherwise; delegates of others may be there as well
        const delegate = message(row === undefined ? part("messageView").count - 1 : row);
        return delegate ? findChild(delegate, name) : null;
    }
    function footer() { return messagePart("footer"); }

    when: windowShown
    visible: true

    function cleanup() {
        if (shell)
            shell.destroy();
        shell = null;
        wait(0); // until it is gone
        Bench.clear();
    }

    Component {
        id: shellComponent
        Shell {
            anchors.fill: parent
            focus: true
            chat: Bench.chat
            conversations: Bench.conversations
            composer: Bench.composer
            conversationSettings: Bench.conversationSettings
            models: Bench.models
            catalogue: Bench.catalogue
            settings: Bench.settings
            program: Bench.program
            log: Bench.log
            pressure: Bench.pressure
            experiments: Bench.experiments
            fetching: Bench.fetching
            servers: Bench.servers
            serverLoad: Bench.serverLoad
        }
    }
}
