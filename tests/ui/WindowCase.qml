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
        const item = findChild(shell, name);
        verify(item, "there is no " + name);
        return item;
    }
    function click(item) {
        tryCompare(item, "visible", true);
        wait(50); // what has just appeared is put in its place with the next frame
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
    function footer() {
        // of the newest answer; delegates of others may be there as well
        const view = part("messageView");
        const delegate = view.itemAtIndex(view.count - 1);
        return delegate ? findChild(delegate, "footer") : null;
    }

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
            models: Bench.models
            settings: Bench.settings
            program: Bench.program
            log: Bench.log
        }
    }
}
