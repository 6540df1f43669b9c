// Tests that the list of messages follows the answer, lets go when the user scrolls, and bears long messages.
import QtQuick
import QtTest
import Spillway.App
import Spillway.Tests
import Spillway.Ui.Theme
import ".."

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
            tryVerify(() => !Bench.chat.turn.busy);
            tryVerify(() => nearEnd());
        }

        function test_rests_behind_another_page_and_is_at_the_end_when_it_comes_back() {
            makeWindow({ tokens: 400 });
            openModel();
            ask("hello");
            tryVerify(() => !Bench.chat.turn.busy);
            click(part("navLocalServer"));
            const view = part("messageView");
            tryCompare(view, "visible", false);
            const before = view.contentY;
            Bench.chat.turn.send("behind the page");
            tryVerify(() => !Bench.chat.turn.busy && Bench.chat.messages.count === 4);
            wait(50);
            compare(view.contentY, before);
            keyClick(Qt.Key_Escape);
            tryVerify(() => message(3) && nearEnd());
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
            tryVerify(() => !Bench.chat.turn.busy);
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
            tryVerify(() => !Bench.chat.turn.busy, 60000);
            verify(lastText().length >= 100000);
            tryVerify(() => nearEnd());
            // The last block is all that a further word would cost.
            Bench.script({ tokens: 200, tokenMs: 1 });
            const start = Date.now();
            ask("more");
            tryVerify(() => !Bench.chat.turn.busy && Bench.chat.messages.count === 4, 20000);
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

        // Heights that change afterwards can let the list make and drop a message for ever.
        function test_a_question_is_as_high_when_it_is_made_as_afterwards() {
            makeWindow({ text: "yes" });
            openModel();
            const view = part("messageView");
            let highest = 0;
            const note = () => highest = Math.max(highest, view.contentHeight);
            view.contentHeightChanged.connect(note);
            Bench.chat.turn.send("a long question ".repeat(120));
            tryVerify(() => !Bench.chat.turn.busy);
            wait(50);
            view.contentHeightChanged.disconnect(note);
            verify(view.contentHeight > 300);
            verify(highest < 1.2 * view.contentHeight, highest + " became " + view.contentHeight);
        }

        function test_long_questions_and_a_high_composer() {
            makeWindow({ text: "yes" });
            openModel();
            for (let i = 0; i < 4; ++i) {
                part("composerField").text = ("question " + i + " grows line by line ").repeat(60);
                wait(20);
                keyClick(Qt.Key_Return);
                tryVerify(() => !Bench.chat.turn.busy && Bench.chat.messages.count === 2 * i + 2);
                tryVerify(() => nearEnd());
            }
        }

        // Messages of very different heights.
        function fillUp(count) {
            makeWindow({ context: 10000000 });
            openModel();
            const parts = ["short", "a line\n\n".repeat(30), "```c\nint a;\n```\n- item\n- item\n".repeat(8), "| a | b |\n|---|---|\n| 1 | 2 |\n\nEnd."];
            for (let i = 0; Bench.chat.messages.count < count; ++i) {
                Bench.script({ text: parts[i % parts.length] });
                Bench.chat.turn.send("question " + i);
                tryVerify(() => !Bench.chat.turn.busy);
            }
            part("messageList").followAnswer();
            wait(50);
        }

        function test_the_scroll_bar_means_rows() {
            fillUp(200);
            const view = part("messageView"), bar = part("listScrollBar");
            fuzzyCompare(bar.position + bar.size, 1, 0.01);
            const x = bar.width / 2;
            const at = share => bar.height * share;
            mousePress(bar, x, at(0.98));
            mouseMove(bar, x, at(0.7));
            mouseMove(bar, x, at(0.5));
            wait(20);
            const middle = view.indexAt(500, view.contentY + view.height / 2);
            verify(middle > 80 && middle < 120, "row " + middle);
            verify(part("latestButton").visible);
            mouseMove(bar, x, at(0.02));
            mouseMove(bar, x, 0);
            mouseMove(bar, x, -20);
            mouseRelease(bar, x, -20);
            tryVerify(() => view.indexAt(500, view.contentY + Theme.gapLarge + 5) === 0);
            part("messageList").followAnswer();
            tryVerify(() => nearEnd());
        }
    }
}
