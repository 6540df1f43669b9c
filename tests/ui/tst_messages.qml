// What can be done with a message: going on, branching, waiting, being left out.
import QtQuick
import QtTest
import Spillway.App
import Spillway.Tests

Item {
    id: root

    width: 1024
    height: 640

    WindowCase {
        name: "Messages"

        function answered(text) {
            ask(text);
            tryVerify(() => !Bench.chat.busy);
            tryVerify(() => footer() && footer().visible);
            wait(50); // until the list has found its end
        }
        // The actions of a message that is not the last appear when one points at it.
        function pointAt(row) {
            mouseMove(message(row), message(row).width / 2, 4);
            tryVerify(() => messagePart("copyButton", row).visible);
        }
        function rawText(row) {
            const messages = Bench.chat.messages;
            return messages.data(messages.index(row, 0), MessageModel.RawTextRole);
        }
        function test_continue_a_stopped_answer() {
            makeWindow({ tokens: 5000, tokenMs: 5 });
            openModel();
            ask("hello");
            tryVerify(() => lastText().length > 20);
            keyClick(Qt.Key_Escape);
            tryVerify(() => !Bench.chat.busy && footer().visible);
            compare(messagePart("answerEnding").text, "Stopped");
            const before = rawText(1);
            Bench.script({ text: "the end" });
            click(messagePart("continueButton"));
            tryVerify(() => !Bench.chat.busy && rawText(1) === before + "the end");
            verify(!messagePart("continueButton").visible);
            compare(messagePart("answerEnding").text, "");
        }

        function test_branch() {
            makeWindow({ text: "yes" });
            openModel();
            answered("one");
            answered("two");
            const id = Bench.chat.conversationId;
            pointAt(1);
            click(messagePart("branchButton", 1));
            tryVerify(() => Bench.chat.conversationId !== id);
            tryCompare(Bench.chat.messages, "count", 2);
            tryCompare(part("composerField"), "activeFocus", true);
            answered("three");
            verify(Bench.chat.open(id));
            tryCompare(Bench.chat.messages, "count", 4);
        }

        function test_a_queue() {
            makeWindow({ tokens: 5000, tokenMs: 5 });
            openModel();
            ask("first");
            tryVerify(() => lastText().length > 20);
            keyClick(Qt.Key_N, Qt.ControlModifier);
            tryVerify(() => !Bench.chat.busy);
            ask("second");
            tryVerify(() => messagePart("queuedText") && messagePart("queuedText").visible);
            verify(part("sendButton").stops);
            compare(Bench.namelessControls(shell).join(), "");
            keyClick(Qt.Key_Escape);
            tryVerify(() => messagePart("answerButton").visible);
            verify(!Bench.chat.busy);
            click(messagePart("answerButton"));
            tryVerify(() => Bench.chat.queued);
        }

        function test_left_out_and_brought_back() {
            makeWindow({ tokens: 30, context: 100 });
            openModel();
            answered("one");
            answered("two");
            Bench.script({ tokens: 60 });
            answered("three");
            tryCompare(part("contextNotice"), "visible", true);
            compare(messagePart("answerEnding").text, "The context was full");
            Bench.script({ text: "and the rest" });
            click(findChild(part("contextNotice"), "dropOldest"));
            tryVerify(() => !Bench.chat.busy && lastText().endsWith("and the rest"));
            verify(!part("contextNotice").visible);
            const view = part("messageView");
            view.positionViewAtBeginning();
            const marked = Bench.chat.messages.count - 2;
            tryVerify(() => message(marked) && messagePart("leftOutMark", marked).visible);
            click(messagePart("bringBack", marked));
            tryVerify(() => !messagePart("leftOutMark", marked).visible);
        }

        function test_raise_the_context() {
            makeWindow({ tokens: 60, context: 40, modelContext: 100, loadMs: 100 });
            openModel();
            answered("one");
            tryCompare(part("contextNotice"), "visible", true);
            const raise = findChild(part("contextNotice"), "raiseContext");
            verify(raise.visible);
            verify(raise.text.indexOf("80") > 0);
            Bench.script({ text: "and the rest" });
            click(raise);
            tryVerify(() => !Bench.chat.busy && lastText().endsWith("and the rest"));
            verify(part("contextText").text.endsWith("/ 80"));
        }

        function test_near_the_end() {
            makeWindow({ tokens: 5000, tokenMs: 5, context: 600 });
            openModel();
            ask("one");
            const notice = part("contextNotice");
            tryCompare(notice, "visible", true);
            verify(Bench.chat.busy);
            click(findChild(notice, "contextDismiss"));
            verify(!Bench.chat.contextNearlyFull);
            tryVerify(() => !Bench.chat.busy);
        }

        function test_raw_text() {
            makeWindow({ text: "*stars*" });
            openModel();
            answered("one");
            click(messagePart("rawButton"));
            tryVerify(() => messagePart("rawBlock") !== null);
            compare(messagePart("rawBlock").text, "*stars*");
            click(messagePart("rawButton"));
            tryVerify(() => messagePart("rawBlock") === null);
        }

        function test_the_ledger() {
            makeWindow({ tokens: 3 });
            openModel();
            answered("one two");
            const numbers = messagePart("answerNumbers");
            numbers.forceActiveFocus(Qt.TabFocusReason);
            const tip = numbers.Accessible.description;
            verify(tip.indexOf("Prompt: 6 tokens") >= 0, tip);
            verify(tip.indexOf("Answer: 3 tokens") >= 0, tip);
        }
    }
}
