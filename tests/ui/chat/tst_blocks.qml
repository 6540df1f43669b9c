// Tests how each kind of block of an answer is drawn, what can be done with it, and what it must not do.
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
        name: "Blocks"

        function answer(text, script) {
            makeWindow(Object.assign({ stream: text }, script || {}));
            openModel();
            ask("go");
            tryVerify(() => Bench.chat.messages.count === 2 && !Bench.chat.turn.busy);
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

        function test_formulas_are_set_and_copied_as_latex() {
            answer("The fraction $\\frac{a}{b} \\cdot x_1$, so\n\n$$\\sum_{i=1}^{n} \\frac{1}{i^2}$$\n\n| a | $\\sqrt{x}$ |\n|-|-|\n| 1 | 2 |");
            const text = inAnswer("textBlock");
            const formula = inAnswer("mathsText");
            if (!Formulas.available)
                skip("built without KaTeX");
            // One character stands for a formula, and its block is as high as the formula.
            tryCompare(formula, "length", 1, 20000);
            tryVerify(() => text.length === "The fraction , so".length + 1);
            verify(formula.height > 40 && formula.height < 70);
            verify(inAnswer("tableText").length < 12);
            formula.forceActiveFocus();
            formula.selectAll();
            keySequence(StandardKey.Copy);
            compare(Bench.clipboard(), "$$\\sum_{i=1}^{n} \\frac{1}{i^2}$$");
            text.forceActiveFocus();
            text.selectAll();
            keySequence(StandardKey.Copy);
            compare(Bench.clipboard(), "The fraction $\\frac{a}{b} \\cdot x_1$, so");
        }

        function test_blocks_begin_on_whole_pixels() {
            answer("# Head\n\nOne, two.\n\n| a | b |\n|-|-|\n| 1 | 2 |\n\n## More\n\nThree.\n\n```\ncode\n```\n\nFour.");
            const column = inAnswer("blocks");
            let seen = 0;
            for (let i = 0; i < column.children.length; ++i) {
                const block = column.children[i];
                if (!block.visible || block.height === 0)
                    continue;
                compare(block.mapToItem(part("messageView"), 0, 0).y % 1, 0);
                ++seen;
            }
            verify(seen >= 5);
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

        function test_a_very_long_link_says_where_it_leads_data() {
            return [ { tag: "text of its size", scale: 1 }, { tag: "large text", scale: 1.75 } ];
        }
        function test_a_very_long_link_says_where_it_leads(data) {
            answer("[a bank](https://evil.example/" + "x".repeat(3500) + ")");
            const dialog = findChild(shell, "linkDialog") || part("linkDialog"), height = shell.Window.window.height;
            Theme.scale = data.scale;
            shell.Window.window.height = 480;
            mouseClick(inAnswer("textBlock"), 20, 10);
            tryVerify(() => dialog.opened);
            const open = seen(dialog.contentItem, "confirmAccept");
            tryVerify(() => dialog.y > 0 && open.mapToItem(null, 0, open.height).y < 480);
            verify(open.mapToItem(null, 0, 0).y > 0);
            keyClick(Qt.Key_Escape);
            tryVerify(() => !dialog.opened);
            shell.Window.window.height = height;
            Theme.scale = 1;
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
            Bench.chat.turn.stop();
            tryVerify(() => !Bench.chat.turn.busy);
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
        function wide(item) {
            const view = part("messageView");
            view.positionViewAtEnd();
            view.pinned = false;
            wait(50);
            return view;
        }
        function checkSideways(flick, view) {
            const bar = findChild(flick, "sidewaysBar");
            verify(bar.visible && bar.size < 1);
            verify(bar.height >= 10 && bar.contentItem.height >= 6 && bar.contentItem.opacity === 1, "the bar is seen");
            verify(bar.y >= flick.tall, "it covers nothing");
            verify(bar.y + bar.height <= flick.height + 1);
            const before = view.contentY, start = flick.contentX;
            const x = flick.width / 2, y = 20;
            mouseWheel(flick, x, y, 0, -120, Qt.NoButton, Qt.ShiftModifier);
            tryVerify(() => flick.contentX > start + 20);
            mouseWheel(flick, x, y, -120, 10, Qt.NoButton, Qt.NoModifier);
            tryVerify(() => flick.contentX > start + 100);
            compare(view.contentY, before);
            const there = flick.contentX;
            mouseWheel(flick, x, y, 20, 120, Qt.NoButton, Qt.NoModifier); // a swipe is never straight
            tryVerify(() => view.contentY < before);
            compare(flick.contentX, there);
            for (let i = 0; i < 100; ++i)
                mouseWheel(flick, x, y, 0, 120, Qt.NoButton, Qt.ShiftModifier);
            tryCompare(flick, "contentX", 0);
            const at = bar.mapToItem(shell, bar.contentItem.x + 10, bar.height / 2);
            mouseDrag(shell, at.x, at.y, 120, 0);
            tryVerify(() => flick.contentX > 20);
        }
        function test_wide_code_moves_by_wheel_and_bar() {
            answer("paragraph\n\n".repeat(40) + "```js\nconst a = 1; " + "very_long ".repeat(60) + "\nb\nc\nlast\n```");
            const view = wide();
            checkSideways(findChild(message(), "codeFlick"), view);
        }
        function test_wide_tables_move_by_wheel_and_bar() {
            answer("paragraph\n\n".repeat(40) + "|" + " a wide column |".repeat(12) + "\n|" + "---|".repeat(12) + ("\n|" + " with words in it |".repeat(12)).repeat(3));
            const view = wide();
            checkSideways(findChild(message(), "tableBlock"), view);
        }
        function test_wide_formulas_move_by_wheel_and_bar() {
            answer("paragraph\n\n".repeat(40) + "$$" + "a_1 + ".repeat(120) + "a_2$$");
            if (Formulas.available)
                tryCompare(inAnswer("mathsText"), "length", 1, 20000); // set: its width stays
            const view = wide();
            tryVerify(() => findChild(message(), "mathsBlock").overflows);
            checkSideways(findChild(message(), "mathsBlock"), view);
        }
        function test_wide_blocks_move_by_keys() {
            answer("```js\nconst a = 1; " + "very_long ".repeat(60) + "\n```\n\n|" + " a wide column |".repeat(12) + "\n|" + "---|".repeat(12) + "\n|" + " with words in it |".repeat(12));
            const code = inAnswer("codeFlick"), table = inAnswer("tableBlock");
            tryVerify(() => code.overflows && table.overflows);
            message().forceActiveFocus(Qt.TabFocusReason);
            keyClick(Qt.Key_Right);
            keyClick(Qt.Key_Right);
            compare([code.contentX, table.contentX], [120, 120]);
            keyClick(Qt.Key_Left);
            compare([code.contentX, table.contentX], [60, 60]);
            for (let i = 0; i < 100; ++i)
                keyClick(Qt.Key_Right);
            compare([code.contentX, table.contentX], [code.contentWidth - code.width, table.contentWidth - table.width]);
        }
        function test_wide_blocks_in_thoughts_move_by_keys() {
            answer("<think>\n```js\nconst a = 1; " + "very_long ".repeat(60) + "\n```\n</think>\n\nYes.");
            click(inAnswer("reasoningButton"));
            tryVerify(() => findChild(message(), "codeFlick")?.overflows);
            message().forceActiveFocus(Qt.TabFocusReason);
            keyClick(Qt.Key_Right);
            compare(inAnswer("codeFlick").contentX, 60);
            inAnswer("reasoningButton").forceActiveFocus(Qt.TabFocusReason);
            keyClick(Qt.Key_Right);
            compare(inAnswer("codeFlick").contentX, 120);
            click(inAnswer("reasoningButton"));
            tryVerify(() => !inAnswer("reasoningBlock").open);
            keyClick(Qt.Key_Left); // there is nothing to scroll
        }
        function test_wide_code_and_tables_follow_the_keys_in_their_text() {
            answer("```js\nconst a = 1; " + "very_long ".repeat(60) + "\n```\n\n|" + " a wide column |".repeat(12) + "\n|" + "---|".repeat(12) + "\n|" + " with words in it |".repeat(12));
            for (const [text, view] of [["codeText", "codeFlick"], ["tableText", "tableBlock"]]) {
                const edit = inAnswer(text), flick = inAnswer(view);
                tryVerify(() => flick.overflows);
                edit.forceActiveFocus(Qt.MouseFocusReason);
                edit.cursorPosition = 0;
                keyClick(Qt.Key_End, text === "tableText" ? Qt.ControlModifier : Qt.NoModifier);
                tryVerify(() => flick.contentX > 0 && edit.x + edit.cursorRectangle.x <= flick.contentX + flick.width + 1, 5000, text);
                keyClick(Qt.Key_Home, Qt.ControlModifier);
                tryVerify(() => edit.x + edit.cursorRectangle.x >= flick.contentX - 1, 5000, text);
                const elsewhere = flick.contentX + 100; // by Shift and the wheel, where something is to be copied
                flick.contentX = elsewhere;
                keyClick(Qt.Key_Shift);
                keyClick(Qt.Key_C, Qt.ControlModifier);
                compare(flick.contentX, elsewhere, text);
            }
        }
        function test_a_wide_table_from_right_to_left_stays_at_its_beginning() {
            answer("|" + " عمود واسع جدا |".repeat(12) + "\n|" + "---|".repeat(12) + "\n|" + " فيه كلمات كثيرة |".repeat(12));
            const table = inAnswer("tableBlock"), width = table.width;
            const passed = () => Math.round(table.contentWidth - table.width - table.contentX);
            tryVerify(() => table.overflows);
            compare(passed(), 0);
            message().forceActiveFocus(Qt.TabFocusReason);
            for (const scrolled of [60, 0]) {
                keyClick(scrolled > 0 ? Qt.Key_Left : Qt.Key_Right);
                compare(passed(), scrolled);
                parent.width = 700;
                tryVerify(() => table.width < width);
                compare(passed(), scrolled);
                parent.width = 1024;
                tryCompare(table, "width", width);
                compare(passed(), scrolled);
            }
        }
        function test_what_fits_has_no_bar() {
            answer("```js\nlet a\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |");
            for (const name of ["codeFlick", "tableBlock"]) {
                const flick = inAnswer(name);
                verify(!findChild(flick, "sidewaysBar").visible);
                compare(flick.height, Math.ceil(flick.tall));
            }
        }
        function test_a_table_that_nearly_fits_is_made_to_fit() {
            answer("| a | b | c |\n|---|---|---|\n| 1 | 2 | 3 |");
            const room = inAnswer("tableBlock").width;
            // Wider by little than the page, at every width of the last word.
            for (let letters = 90; letters < 130; letters += 8) {
                Bench.script({ stream: "| one | two | " + "i ".repeat(letters) + "|\n|---|---|---|\n| 1 | 2 | 3 |" });
                const count = Bench.chat.messages.count;
                part("composerField").forceActiveFocus();
                ask("x");
                tryVerify(() => Bench.chat.messages.count === count + 2 && !Bench.chat.turn.busy);
                wait(50);
                const table = findChild(part("messageView").itemAtIndex(count + 1), "tableBlock");
                verify(table.contentWidth <= room, letters + ": " + table.contentWidth + " in " + room);
                verify(!table.clip);
            }
        }
        function test_a_column_is_as_wide_as_its_looks() {
            answer("| a |\n|---|\n| plain |");
            const line = inAnswer("tableText").height;
            for (const look of ["*", "**", "***", "`"]) {
                Bench.script({ stream: "| a |\n|---|\n| " + look + "recommended_everywhere_and_always" + look + " |" });
                const count = Bench.chat.messages.count;
                part("composerField").forceActiveFocus();
                ask("x");
                tryVerify(() => Bench.chat.messages.count === count + 2 && !Bench.chat.turn.busy);
                wait(50);
                const text = findChild(part("messageView").itemAtIndex(count + 1), "tableText");
                verify(text.height < line + 10, look); // no word is broken; code's lines are a little higher
            }
        }
        function test_long_lines_of_code_are_wrapped_if_one_likes() {
            answer("```js\nconst a = 1; " + "very_long ".repeat(60) + "\n```");
            const flick = inAnswer("codeFlick");
            const height = flick.height;
            verify(flick.overflows);
            click(inAnswer("wrapCodeButton"));
            tryVerify(() => !flick.overflows && flick.height > 1.5 * height);
            compare(Bench.settings.wrapCode.value, 1);
            compare(inAnswer("wrapCodeButton").name, "Do not wrap long lines");
            click(inAnswer("wrapCodeButton"));
            tryVerify(() => flick.overflows && flick.height === height);
            compare(Bench.settings.wrapCode.value, 0);
        }
        function answerAgain(text) {
            Bench.script({ stream: text });
            part("composerField").forceActiveFocus();
            ask("again");
            tryVerify(() => Bench.chat.messages.count === 4 && !Bench.chat.turn.busy);
            wait(50);
        }

        function test_what_is_typed_stays_plain() {
            makeWindow({ stream: "ok" });
            openModel();
            ask("**a** <b> `c`");
            tryVerify(() => Bench.chat.messages.count === 2 && !Bench.chat.turn.busy);
            tryVerify(() => part("messageView").itemAtIndex(0));
            const mine = findChild(part("messageView").itemAtIndex(0), "textBlock");
            compare(mine.content, "**a** <b> `c`");
        }

        function test_code_that_is_typed_is_shown_as_code() {
            makeWindow({ stream: "ok" });
            openModel();
            part("composerField").text = "why **this**?\n\n```py\nprint(1)\n```\n  and   this\nمرحبا";
            keyClick(Qt.Key_Return);
            tryVerify(() => Bench.chat.messages.count === 2 && !Bench.chat.turn.busy);
            tryVerify(() => part("messageView").itemAtIndex(0));
            const mine = part("messageView").itemAtIndex(0);
            const code = findChild(mine, "codeBlock");
            compare(code.content, "print(1)");
            compare(code.title, "Python");
            const texts = Array.from(findChild(mine, "blocks").children).filter(c => c.content !== undefined).map(c => c.content);
            compare(texts, ["why **this**?", "print(1)", "  and   this\nمرحبا"]);
            verify(code.width > mine.columnWidth / 2);
        }
        function test_text_of_several_paragraphs_is_selected_at_once() {
            answer("one\n\n# two\n\n- three\n- four");
            const text = inAnswer("textBlock");
            text.selectAll();
            compare(text.selectedText.replace(/\u2029/g, "\n"), "one\ntwo\n•\tthree\n•\tfour");
        }

        // Where a word of a text begins.
        function beginningOf(text, word) {
            const at = text.getText(0, text.length).indexOf(word);
            verify(at >= 0, word);
            return text.positionToRectangle(at).x;
        }

        function test_each_paragraph_reads_its_own_way() {
            answer("مرحبا بكم\n\nEnglish again\n\n- بند أول\n- an item\n\n1. رقم\n\nالأخير");
            const text = inAnswer("textBlock");
            const right = text.width - 2, left = 2;
            verify(beginningOf(text, "مرحبا") > right - 2);
            verify(beginningOf(text, "English") < left);
            verify(beginningOf(text, "الأخير") > right - 2);
            // Each mark stands outside of its text, on the side where that begins, and is seen whole.
            const all = text.getText(0, text.length);
            const mark = place => text.positionToRectangle(all.indexOf("•", place)).x;
            const arabic = mark(0), english = mark(all.indexOf("بند أول"));
            verify(arabic <= right && arabic > right - 30, "at " + arabic + " of " + right);
            verify(beginningOf(text, "بند أول") < arabic - 8);
            verify(english >= 0 && english < 30);
            verify(beginningOf(text, "an item") > english + 8);
            const number = beginningOf(text, "1.");
            verify(number <= right && number > right - 30);
            verify(beginningOf(text, "رقم") < number);
        }

        function test_a_quote_has_its_bar_where_its_text_begins() {
            answer("> اقتباس\n\nbetween\n\n> a quote");
            const column = inAnswer("blocks");
            const bars = [];
            for (const block of Array.from(column.children))
                for (const bar of Array.from(block.children))
                    if (bar.objectName === "quoteBar")
                        bars.push({ x: bar.x, right: block.width - bar.width });
            compare(bars.length, 2);
            compare(bars[0].x, bars[0].right);
            compare(bars[1].x, 0);
        }

        function test_a_table_from_right_to_left_is_mirrored() {
            answer("| اسم | عدد |\n|---|---|\n| نص | 12 |\n| text | 3 |");
            const table = inAnswer("tableBlock"), text = inAnswer("tableText");
            verify(beginningOf(text, "اسم") > beginningOf(text, "عدد"), "the first column is on the right");
            compare(Math.round(text.x + text.width), Math.round(table.width));
            verify(beginningOf(text, "عدد") > 0);
            answerAgain("| name | count |\n|---|---|\n| نص | 12 |");
            const other = findChild(part("messageView").itemAtIndex(3), "tableText");
            compare(other.x, 0);
            verify(beginningOf(other, "name") < beginningOf(other, "count"));
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
