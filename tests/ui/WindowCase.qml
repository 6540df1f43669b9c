// Gives each test function the whole window: a new Shell on a new set of controllers.
import QtQuick
import QtTest
import Spillway.App
import Spillway.Tests
import Spillway.Ui
import Spillway.Ui.Theme

TestCase {
    id: root

    property Item shell
    property size usual // of the window

    Component.onCompleted: usual = Qt.size(parent.width, parent.height)

    // The functions of this file replace Qt's own, which look again only every 50 ms, though most of what tests wait
    // for takes less: that was half of these tests' time. Where nothing comes true, the first line of the stack that is
    // not of this file says who waited.
    function comesTrue(condition: var, timeout: int): bool {
        let waited = 0;
        for (let pause = 0; !condition(); pause = Math.min(50, pause + 4)) {
            if (waited > timeout)
                return false;
            wait(pause);
            waited += pause;
        }
        return true;
    }
    function asker(): string {
        const lines = new Error().stack.split("\n").filter(line => line.indexOf("WindowCase.qml") < 0);
        return lines.length > 0 ? " at " + lines[0] : "";
    }
    function tryVerify(condition, timeout, message) {
        if (!comesTrue(condition, timeout || 20000))
            fail((message || "it never came true") + asker());
    }
    function tryCompare(object, property, value, timeout, message) {
        comesTrue(() => qtest_compareInternal(object[property], value), timeout || 20000);
        if (!qtest_compareInternal(object[property], value))
            compare(object[property], value, (message || "property " + property) + asker());
    }
    // Qt's own waits five seconds where nothing is to be drawn.
    function waitForRendering(item) {
        Bench.nextFrame(item);
        return true;
    }
    function findChild(parent, name) {
        return Bench.child(parent, name);
    }
    function seen(item, name) {
        return Bench.seen(item, name);
    }
    function makeWindow(script) {
        Bench.reset(script || {});
        showWindow();
    }
    // Scrolls the panel beside the conversation to an item of it, once the panel has come to rest: what a device brings
    // into it comes in several frames.
    function reveal(item) {
        const view = part("panelView");
        let before = -1;
        tryVerify(() => {
            const rests = view.contentHeight === before;
            before = view.contentHeight;
            if (!rests)
                wait(100);
            return rests;
        });
        const y = item.mapToItem(view.contentItem, 0, 0).y;
        view.contentY = Math.max(0, Math.min(view.contentHeight - view.height, y - view.height / 2));
        waitForRendering(item);
    }
    // Makes the window on the controllers that the bench holds already.
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
        // What a Repeater made has no parent that findChild() knows, and a popup is not in the Shell.
        const item = findChild(shell, name) || Bench.seen(shell.Window.window.contentItem, name);
        verify(item, "there is no " + name);
        return item;
    }
    // Returns the item once it is seen and does not move. For an item that may be made anew meanwhile, such as a row,
    // pass a function that finds it.
    function atRest(item) {
        const found = () => typeof item === "function" ? item() : item;
        tryVerify(() => found() && found().visible, 20000, "it was never visible");
        // What has just appeared is put in its place with the next frames, which a busy machine is late with.
        let before = null, since = 0;
        tryVerify(() => {
            const it = found();
            if (!it)
                return false;
            Bench.nextFrame(it);
            if (found() !== it)
                return false; // another one has taken its place
            const now = it.mapToItem(null, it.width / 2, it.height / 2);
            const rests = before && Math.abs(now.x - before.x) < it.width / 4 && Math.abs(now.y - before.y) < it.height / 4;
            before = now;
            if (!rests)
                since = Date.now();
            return rests && Date.now() - since >= 80;
        });
        return found();
    }
    function click(item) {
        mouseClick(atRest(item));
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
        // A test that failed may have left these changed.
        Theme.scale = 1;
        parent.width = usual.width;
        parent.height = usual.height;
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
            server: Bench.server
        }
    }
}
