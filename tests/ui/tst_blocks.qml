// What an answer is drawn as: each kind of block, what can be done with it, and what it must not do.
import QtQuick
import QtTest
import Spillway.App
import Spillway.Tests
import Spillway.Ui.Theme

Item {
    width: 1024
    height: 640

    WindowCase {
        name: "Blocks"

        function answer(text, script) {
            makeWindow(Object.assign({ stream: text }, script || {}));
            openModel();
            ask("go");
            tryVerify(() => Bench.chat.messages.count === 2 && !Bench.chat.busy);
            wait(50);
        }
        function message() { return part("messageView").itemAtIndex(1); }
        function inAnswer(name) {
            const item = findChild(message(), name);
            verify(item, "there is no " + name);
            return item;
        }

        function test_code_has_its_language_and_is_copied_whole() {
            let code = "";
            for (let i = 0; i < 400; ++i)
                code += "line(" + i + ")\n";
            answer("Here:\n\n```py\n" + code + "```\nDone.");
            compare(inAnswer("codeLanguage").text, "Python");
            const view = part("messageView");
            view.pinned = false;
            view.positionViewAtIndex(1, ListView.Beginning);
            wait(50);
            click(inAnswer("copyCodeButton"));
            compare(Bench.clipboard(), code.trim());
            compare(inAnswer("copyCodeButton").name, "Copied");
        }

        function test_code_scrolls_sideways_and_is_coloured() {
            answer("```js\nconst a = 1; " + "very_long ".repeat(60) + "\n```");
            const flick = inAnswer("codeFlick");
            verify(flick.interactive);
            verify(flick.contentWidth > flick.width + 200);
            verify(message().width <= 1024);
        }

        function test_a_link_asks_with_the_whole_address() {
            answer("[a bank](https://bank.example@evil.example/login?x=1)");
            const text = inAnswer("textBlock");
            mouseClick(text, 20, 10);
            const dialog = findChild(shell, "linkDialog") || part("linkDialog");
            tryVerify(() => dialog.opened);
            verify(dialog.detail.includes("leads to evil.example"));
            verify(dialog.detail.includes("https://bank.example@evil.example/login?x=1"));
            keyClick(Qt.Key_Escape);
            tryVerify(() => !dialog.opened);
        }

        function test_a_link_that_leads_nowhere_does_not_ask() {
            answer("[a](javascript:alert(1)) <script>x</script> ![i](file:///etc/passwd)");
            const text = inAnswer("textBlock");
            mouseClick(text, 6, 10);
            wait(50);
            verify(!part("linkDialog").opened);
            compare(text.content, "a (javascript:alert(1)) <script>x</script> 🖼 i (file:///etc/passwd)");
            compare(text.linkAt(6, 10), "");
        }

        function test_reasoning_is_folded_when_done() {
            answer("<think>\nso **it** is\n</think>\n\nYes.", { tokenMs: 10 });
            const button = inAnswer("reasoningButton");
            verify(button.text.startsWith("Thought for 0."), button.text);
            const folded = inAnswer("reasoningBlock").implicitHeight;
            button.forceActiveFocus();
            keyClick(Qt.Key_Space);
            tryVerify(() => inAnswer("reasoningBlock").implicitHeight > folded);
            keyClick(Qt.Key_Return);
            tryVerify(() => inAnswer("reasoningBlock").implicitHeight === folded);
        }

        function test_reasoning_is_open_while_it_grows() {
            makeWindow({ stream: "<think>\n" + "thinking hard ".repeat(200), tokenMs: 5 });
            openModel();
            ask("go");
            tryVerify(() => Bench.chat.messages.count === 2 && findChild(message(), "reasoningButton"));
            compare(inAnswer("reasoningButton").text, "Thinking …");
            verify(inAnswer("reasoningBlock").open);
            Bench.chat.stop();
            tryVerify(() => !Bench.chat.busy);
            tryVerify(() => !inAnswer("reasoningBlock").open);
        }

        function test_a_table_is_a_grid_and_scrolls_when_wide() {
            answer("| a | b |\n|---|--:|\n| 1 | 2 |\n| 3 | 4 |");
            const table = inAnswer("tableBlock");
            verify(!table.interactive);
            compare(inAnswer("tableText").text.includes("3"), true);
            answerAgain("|" + " a wide column |".repeat(12) + "\n|" + "---|".repeat(12) + "\n|" + " with words in it |".repeat(12));
            const view = part("messageView");
            const wide = findChild(view.itemAtIndex(3), "tableBlock");
            verify(wide.interactive);
            verify(wide.contentWidth > wide.width);
        }
        function answerAgain(text) {
            Bench.script({ stream: text });
            part("composerField").forceActiveFocus();
            ask("again");
            tryVerify(() => Bench.chat.messages.count === 4 && !Bench.chat.busy);
            wait(50);
        }

        function test_what_is_typed_stays_plain() {
            makeWindow({ stream: "ok" });
            openModel();
            ask("**a** <b> `c`");
            tryVerify(() => Bench.chat.messages.count === 2 && !Bench.chat.busy);
            tryVerify(() => part("messageView").itemAtIndex(0));
            const mine = findChild(part("messageView").itemAtIndex(0), "textBlock");
            compare(mine.content, "**a** <b> `c`");
        }

        function test_text_of_several_paragraphs_is_selected_at_once() {
            answer("one\n\n# two\n\n- three\n- four");
            const text = inAnswer("textBlock");
            text.selectAll();
            compare(text.selectedText.replace(/\u2029/g, "\n"), "one\ntwo\n•\tthree\n•\tfour");
        }

        function test_a_very_long_message_waits_in_its_middle() {
            let text = "";
            for (let i = 0; i < 300; ++i)
                text += "```c\nint a" + i + ";\n```\n";
            answer(text);
            const shown = () => Array.from(inAnswer("blocks").children).filter(child => child.shown === true).length;
            compare(shown(), 100);
            inAnswer("showMore").clicked();
            tryVerify(() => shown() === 160);
        }
    }
}
