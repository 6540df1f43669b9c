// Tests that the keys in each row of the table of shortcuts do what the sheet says.
import QtQuick
import QtTest
import Spillway.App
import Spillway.Tests
import Spillway.Ui
import ".."

Item {
    width: 1180
    height: 780

    SignalSpy {
        id: performed

        signalName: "triggered"
    }

    WindowCase {
        name: "Shortcuts"

        readonly property var keys: ({
            "Return": Qt.Key_Return, "Up": Qt.Key_Up, "Left": Qt.Key_Left, "Right": Qt.Key_Right, "Esc": Qt.Key_Escape,
            "Del": Qt.Key_Delete, "F1": Qt.Key_F1, "F2": Qt.Key_F2, ",": Qt.Key_Comma, ";": Qt.Key_Semicolon,
            "/": Qt.Key_Slash, "+": Qt.Key_Plus, "=": Qt.Key_Equal, "-": Qt.Key_Minus, "0": Qt.Key_0,
            ".": Qt.Key_Period
        })

        function press(sequence) {
            let modifiers = Qt.NoModifier, rest = sequence;
            for (const [name, modifier] of [["Ctrl+", Qt.ControlModifier], ["Alt+", Qt.AltModifier],
                                            ["Shift+", Qt.ShiftModifier]]) {
                if (rest.startsWith(name)) {
                    modifiers |= modifier;
                    rest = rest.slice(name.length);
                }
            }
            const key = keys[rest] !== undefined ? keys[rest] : Qt["Key_" + rest];
            verify(key !== undefined, "no key " + rest);
            keyClick(key, modifiers);
        }
        function table() { return part("windowShortcuts").table; }
        function rowsOfWindow() {
            const model = part("windowShortcuts").table, rows = [];
            for (let i = 0; i < model.rowCount(); ++i) {
                const get = role => model.data(model.index(i, 0), role);
                if (get(ShortcutModel.OfWindowRole))
                    rows.push({ action: get(ShortcutModel.ActionRole), sequences: get(ShortcutModel.SequencesRole) });
            }
            return rows;
        }

        function test_every_row_is_heard() {
            makeWindow();
            openModel();
            performed.target = part("windowShortcuts");
            let seen = 0;
            for (const row of rowsOfWindow()) {
                if (row.action === "quit" || row.action === "openModel" || row.action === "attach")
                    continue; // they have tests of their own
                for (const sequence of row.sequences) {
                    shell.show(row.action === "escape" ? PageName.Log : PageName.Conversation);
                    if (row.action === "remove" || row.action.endsWith("Version"))
                        part("sidebarButton").forceActiveFocus(); // in the text they belong to the text
                    performed.clear();
                    press(sequence);
                    compare(performed.count, 1, sequence);
                    compare(performed.signalArguments[0][0], row.action, sequence);
                    findChild(shell, "shortcutSheet").close();
                    findChild(shell, "conversationSettings").close();
                    findChild(shell, "modelMenu").close();
                    ++seen;
                }
            }
            verify(seen > 20);
        }

        function test_no_two_rows_have_the_same_keys() {
            makeWindow();
            const all = [];
            for (const row of rowsOfWindow()) {
                for (const sequence of row.sequences) {
                    verify(all.indexOf(sequence) < 0, sequence);
                    all.push(sequence);
                }
            }
        }

        function test_the_sheet() {
            makeWindow();
            keyClick(Qt.Key_F1);
            const sheet = findChild(shell, "shortcutSheet");
            tryCompare(sheet, "opened", true);
            compare(findChild(shell, "shortcutList").count, table().rowCount());
            keyClick(Qt.Key_Escape);
            tryCompare(sheet, "visible", false);
            compare(shell.page, PageName.Conversation);
            keyClick(Qt.Key_Slash, Qt.ControlModifier);
            tryCompare(sheet, "opened", true);
            sheet.close();
            tryCompare(sheet, "visible", false);
        }

        function test_they_are_heard_from_a_text_that_is_read() {
            makeWindow({ text: "zebras graze" });
            openModel();
            ask("one");
            tryVerify(() => Bench.chat.messages.count === 2 && !Bench.chat.turn.busy);
            const text = messagePart("textBlock");
            click(text);
            tryCompare(text, "activeFocus", true);
            keyClick(Qt.Key_A, Qt.ControlModifier); // this one is the text's
            verify(text.selectedText.length > 0);
            const before = Bench.settings.sidebarShown.value;
            keyClick(Qt.Key_B, Qt.ControlModifier);
            tryVerify(() => Bench.settings.sidebarShown.value !== before);
        }

        function test_keys_of_the_text_stay_with_the_text() {
            makeWindow();
            openModel();
            type("ab");
            keyClick(Qt.Key_Home);
            keyClick(Qt.Key_Delete);
            compare(part("composerField").text, "b");
        }

        function test_copy() {
            makeWindow({ text: "Look:\n\n```cpp\nint x;\n```\n\nThat was it." });
            openModel();
            ask("hello");
            tryVerify(() => !Bench.chat.turn.busy);
            keyClick(Qt.Key_C, Qt.ControlModifier | Qt.ShiftModifier);
            verify(Bench.clipboard().indexOf("That was it.") > 0);
            keyClick(Qt.Key_Semicolon, Qt.ControlModifier | Qt.ShiftModifier);
            compare(Bench.clipboard().trim(), "int x;");
        }

        function test_pages() {
            makeWindow();
            keyClick(Qt.Key_L, Qt.ControlModifier);
            compare(shell.page, PageName.Models);
            keyClick(Qt.Key_Comma, Qt.ControlModifier);
            compare(shell.page, PageName.Settings);
            keyClick(Qt.Key_Escape, Qt.ShiftModifier);
            compare(shell.page, PageName.Conversation);
        }

        // Elsewhere these keys mean "reload" and "back" to many.
        function test_an_answer_that_is_not_seen_is_left_as_it_is() {
            makeWindow({ text: "zebras graze" });
            openModel();
            ask("hello");
            tryVerify(() => lastText() !== "" && !Bench.chat.turn.busy);
            keyClick(Qt.Key_R, Qt.ControlModifier);
            tryVerify(() => lastMessage(MessageModel.VersionCountRole) === 2 && !Bench.chat.turn.busy);
            compare(lastMessage(MessageModel.VersionRole), 2);
            keyClick(Qt.Key_Comma, Qt.ControlModifier);
            keyClick(Qt.Key_R, Qt.ControlModifier);
            keyClick(Qt.Key_Left, Qt.AltModifier);
            verify(!Bench.chat.turn.busy);
            compare(lastMessage(MessageModel.VersionCountRole), 2);
            compare(lastMessage(MessageModel.VersionRole), 2);
        }
    }
}
