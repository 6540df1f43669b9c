// The list of messages: follows the answer, lets go when the user scrolls, and bears long ones.
import QtQuick
import QtTest
import Spillway.App
import Spillway.Tests

Item {
    width: 1024
    height: 640

    WindowCase {
        name: "List"

        function nearEnd() {
            const view = part("messageView");
            return view.contentY + view.height >= view.originY + view.contentHeight - 2;
        }

        function test_follows_a_growing_answer() {
            makeWindow({ tokens: 1200, tokenMs: 1 });
            openModel();
            ask("hello");
            tryVerify(() => part("messageView").contentHeight > 1500);
            verify(!part("latestButton").visible);
            tryVerify(() => !Bench.chat.busy);
            tryVerify(() => nearEnd());
        }

        function test_lets_go_when_scrolled_and_comes_back() {
            makeWindow({ tokens: 3000, tokenMs: 2 });
            openModel();
            ask("hello");
            const view = part("messageView");
            tryVerify(() => view.contentHeight > 1200);
            mouseWheel(view, 500, 200, 0, 600);
            tryCompare(part("latestButton"), "visible", true);
            tryCompare(view, "moving", false);
            const before = view.contentY;
            wait(300); // text goes on arriving
            verify(Math.abs(view.contentY - before) < 2);
            click(part("latestButton"));
            tryCompare(part("latestButton"), "visible", false);
            tryVerify(() => nearEnd());
        }

        function test_keys_scroll() {
            makeWindow({ tokens: 1200 });
            openModel();
            ask("hello");
            tryVerify(() => !Bench.chat.busy);
            const view = part("messageView");
            tryVerify(() => nearEnd() && view.contentHeight > 1500);
            view.forceActiveFocus();
            keyClick(Qt.Key_PageUp);
            verify(!nearEnd());
            verify(part("latestButton").visible);
            keyClick(Qt.Key_End);
            tryVerify(() => nearEnd());
        }

        function test_a_hundred_thousand_characters() {
            makeWindow({ tokens: 20000, context: 100000 });
            openModel();
            ask("hello");
            tryVerify(() => !Bench.chat.busy, 60000);
            verify(lastText().length >= 100000);
            tryVerify(() => nearEnd());
            // The last block is all that a further word would cost.
            Bench.script({ tokens: 200, tokenMs: 1 });
            const start = Date.now();
            ask("more");
            tryVerify(() => !Bench.chat.busy && Bench.chat.messages.count === 4, 20000);
            verify(Date.now() - start < 10000);
            tryVerify(() => nearEnd());
        }

        function test_text_can_be_selected_while_it_grows() {
            makeWindow({ tokens: 400, tokenMs: 5 });
            openModel();
            ask("hello");
            tryVerify(() => lastText().length > 60);
            const view = part("messageView");
            const answer = view.itemAtIndex(1);
            const block = findChild(answer, "textBlock");
            block.select(0, 9);
            const length = lastText().length;
            tryVerify(() => lastText().length > length + 20);
            compare(block.selectedText, "word word");
        }
    }
}
