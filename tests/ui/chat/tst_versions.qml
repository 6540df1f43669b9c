// Tests that one can switch between the versions of a message, and that editing makes a new one.
import QtQuick
import QtTest
import Spillway.App
import Spillway.Tests
import Spillway.Ui.Theme
import ".."

Item {
    id: root

    width: 1024
    height: 640

    WindowCase {
        name: "Versions"

        function answered(text) {
            ask(text);
            tryVerify(() => !Bench.chat.turn.busy);
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
        function test_versions_of_an_answer() {
            makeWindow({ text: "first" });
            openModel();
            answered("hello");
            verify(!messagePart("versionSwitch").visible);
            Bench.script({ text: "second" });
            click(messagePart("retryButton"));
            tryVerify(() => messagePart("versionText") && messagePart("versionText").text === "2/2");
            tryVerify(() => !Bench.chat.turn.busy && lastText() === "second");
            verify(!messagePart("nextVersion").enabled);
            click(messagePart("previousVersion"));
            tryVerify(() => lastText() === "first");
            tryVerify(() => messagePart("versionText") && messagePart("versionText").text === "1/2");
            messagePart("nextVersion").forceActiveFocus(Qt.TabFocusReason);
            keyClick(Qt.Key_Space);
            tryVerify(() => lastText() === "second");
        }

        // The smallest window at the largest text: whatever can be pressed is in the window, and the rest is in the menu.
        function test_actions_are_in_a_small_window() {
            Theme.scale = 2;
            parent.width = 640;
            makeWindow({ text: "first" });
            openModel();
            answered("hello");
            keyClick(Qt.Key_R, Qt.ControlModifier);
            tryVerify(() => !Bench.chat.turn.busy && messagePart("versionText") && messagePart("versionText").text === "2/2");
            const inside = name => {
                const item = messagePart(name);
                return item && item.visible && item.width > 0 && item.mapToItem(shell, 0, 0).x >= 0
                    && item.mapToItem(shell, item.width, 0).x <= shell.width;
            };
            for (const name of ["previousVersion", "nextVersion", "copyButton", "retryButton", "retryMenuButton", "moreButton", "answerNumbers"])
                tryVerify(() => inside(name), 5000, name);
            for (const name of ["compareButton", "editButton", "branchButton", "rawButton"])
                verify(!messagePart(name).visible, name);
            compare(Bench.namelessControls(shell).join(), "");
            click(() => messagePart("moreButton"));
            const entry = name => seen(shell.Window.window.contentItem, "folded_" + name);
            tryVerify(() => entry("editButton") && entry("branchButton") && entry("compare"));
            verify(!entry("pinButton")); // there is no device
            click(() => entry("rawButton"));
            tryVerify(() => messagePart("rawBlock") !== null);
            click(() => messagePart("moreButton"));
            click(() => entry("editButton"));
            tryVerify(() => messagePart("editField") && messagePart("editField").activeFocus);
        }

        // What is chosen there leads the keyboard on as a button in the line would.
        function test_the_menu_of_actions_by_keyboard() {
            Theme.scale = 2;
            parent.width = 640;
            makeWindow({ text: "first" });
            openModel();
            answered("hello");
            keyClick(Qt.Key_R, Qt.ControlModifier);
            tryVerify(() => !Bench.chat.turn.busy && messagePart("versionText") && messagePart("versionText").text === "2/2");
            const entry = name => seen(shell.Window.window.contentItem, "folded_" + name);
            const choose = name => {
                messagePart("moreButton").forceActiveFocus(Qt.TabFocusReason);
                keyClick(Qt.Key_Space);
                tryVerify(() => entry(name));
                for (let i = 0; i < 8 && !entry(name).highlighted; ++i)
                    keyClick(Qt.Key_Down);
                keyClick(Qt.Key_Return);
                tryVerify(() => !entry("branchButton"));
            };
            tryVerify(() => messagePart("moreButton"));
            choose("rawButton");
            tryVerify(() => messagePart("rawBlock") !== null);
            verify(messagePart("moreButton").activeFocus);
            choose("compare");
            tryVerify(() => Bench.chat.comparison.shown && part("answerColumns").activeFocus);
            keyClick(Qt.Key_Escape);
            tryVerify(() => messagePart("moreButton") && messagePart("moreButton").visible);
            const before = Bench.chat.conversationId;
            choose("branchButton");
            verify(Bench.chat.conversationId !== before);
            tryCompare(part("composerField"), "activeFocus", true);
        }

        function test_how_an_answer_ended_is_read_in_a_small_window() {
            Theme.scale = 2;
            parent.width = 640;
            makeWindow({ tokens: 5000, tokenMs: 5 });
            openModel();
            ask("hello");
            tryVerify(() => lastText().length > 20);
            keyClick(Qt.Key_Escape);
            tryVerify(() => !Bench.chat.turn.busy && footer() && footer().visible && messagePart("moreButton"));
            compare(messagePart("answerEnding").text, "Stopped");
            const inside = item => item.visible && item.mapToItem(shell, item.width, 0).x <= shell.width;
            tryVerify(() => inside(messagePart("answerEnding")) && !messagePart("answerEnding").truncated);
            tryVerify(() => inside(messagePart("continueButton")) && inside(messagePart("moreButton")));
        }

        function test_versions_by_keyboard() {
            makeWindow({ text: "first" });
            openModel();
            answered("hello");
            Bench.script({ text: "second" });
            keyClick(Qt.Key_R, Qt.ControlModifier);
            tryVerify(() => !Bench.chat.turn.busy && lastText() === "second");
            keyClick(Qt.Key_Left, Qt.AltModifier);
            tryVerify(() => lastText() === "first");
            keyClick(Qt.Key_Right, Qt.AltModifier);
            tryVerify(() => lastText() === "second");
        }

        function test_edit_and_send_again() {
            makeWindow({ text: "yes" });
            openModel();
            answered("one");
            answered("two");
            verify(!messagePart("editButton", 0)); // they are made when they are first shown
            pointAt(0);
            click(messagePart("editButton", 0));
            tryVerify(() => messagePart("editField", 0) !== null);
            const field = messagePart("editField", 0);
            tryCompare(field, "activeFocus", true);
            compare(field.text, "one");
            type(" more");
            keyClick(Qt.Key_Escape);
            tryVerify(() => messagePart("editField", 0) === null);
            tryCompare(part("composerField"), "activeFocus", true);
            compare(Bench.chat.messages.count, 4);

            pointAt(0);
            click(messagePart("editButton", 0));
            tryVerify(() => messagePart("editField", 0) && messagePart("editField", 0).activeFocus);
            type(" more");
            keyClick(Qt.Key_Return, Qt.ShiftModifier);
            type("lines");
            keyClick(Qt.Key_Return);
            tryVerify(() => !Bench.chat.turn.busy && Bench.chat.messages.count === 2);
            compare(rawText(0), "one more\nlines");
            tryVerify(() => messagePart("versionText", 0).text === "2/2");
            tryCompare(part("composerField"), "activeFocus", true);
            click(messagePart("previousVersion", 0));
            tryVerify(() => Bench.chat.messages.count === 4);
        }

        function test_an_edited_question_is_followed_to_its_answer() {
            makeWindow({ tokens: 400 });
            openModel();
            answered("one");
            answered("two");
            part("messageView").positionViewAtBeginning();
            tryVerify(() => message(0) !== null);
            Bench.chat.versions.edit(Bench.chat.messages.data(Bench.chat.messages.index(0, 0), MessageModel.MessageIdRole), "other");
            tryVerify(() => !Bench.chat.turn.busy && Bench.chat.messages.count === 2);
            tryVerify(() => part("messageList").atLatest);
            const view = part("messageView");
            tryVerify(() => view.contentY + view.height >= view.originY + view.contentHeight - 24);
        }

        function test_the_versions_stay_in_their_place() {
            makeWindow({ text: "yes" });
            openModel();
            answered("one");
            Bench.chat.versions.edit(Bench.chat.messages.data(Bench.chat.messages.index(0, 0), MessageModel.MessageIdRole), "other");
            tryVerify(() => !Bench.chat.turn.busy && messagePart("versionText", 0).text === "2/2");
            mouseMove(root, 2, 2);
            wait(50);
            const before = messagePart("previousVersion", 0).mapToItem(root, 0, 0);
            pointAt(0);
            wait(50);
            compare(messagePart("previousVersion", 0).mapToItem(root, 0, 0), before);
        }

        function test_a_message_stays_where_its_version_is_switched() {
            makeWindow({ tokens: 100 });
            openModel();
            answered("zero");
            answered("one");
            answered("two");
            answered("three");
            Bench.chat.versions.edit(Bench.chat.messages.data(Bench.chat.messages.index(2, 0), MessageModel.MessageIdRole), "other");
            tryVerify(() => !Bench.chat.turn.busy && Bench.chat.messages.count === 4);
            tryVerify(() => messagePart("versionText", 2) && messagePart("versionText", 2).text === "2/2");
            wait(50);
            const top = message(2).mapToItem(root, 0, 0).y;
            for (let i = 0; i < 2; ++i) { // back and forth
                click(messagePart(i === 0 ? "previousVersion" : "nextVersion", 2));
                tryCompare(Bench.chat.messages, "count", i === 0 ? 8 : 4);
                tryVerify(() => message(2) && Math.abs(message(2).mapToItem(root, 0, 0).y - top) < 2);
            }
        }

        function test_a_message_at_the_top_stays_where_its_version_is_switched() {
            makeWindow();
            openModel();
            answered("zero");
            answered("one");
            answered("two");
            Bench.chat.versions.edit(Bench.chat.messages.data(Bench.chat.messages.index(2, 0), MessageModel.MessageIdRole), "other");
            tryVerify(() => !Bench.chat.turn.busy && Bench.chat.messages.count === 4);
            tryVerify(() => messagePart("versionText", 2) && messagePart("versionText", 2).text === "2/2");
            wait(50);
            const top = message(2).mapToItem(root, 0, 0).y; // with room below it
            click(messagePart("previousVersion", 2));
            tryCompare(Bench.chat.messages, "count", 6);
            tryVerify(() => message(2) && Math.abs(message(2).mapToItem(root, 0, 0).y - top) < 2);
        }

        function test_edit_an_answer() {
            makeWindow({ text: "wrong" });
            openModel();
            answered("one");
            click(messagePart("editButton"));
            tryVerify(() => messagePart("editField") && messagePart("editField").activeFocus);
            keyClick(Qt.Key_Return); // a line break here
            type("right");
            keyClick(Qt.Key_Return, Qt.ControlModifier);
            tryVerify(() => rawText(1) === "wrong\nright");
            compare(Bench.requestCount(), 1);
            tryVerify(() => messagePart("versionText").text === "2/2");
        }

        function test_an_answer_is_not_kept_while_the_model_answers() {
            makeWindow({ text: "yes" });
            openModel();
            answered("one");
            answered("two");
            pointAt(1);
            click(messagePart("editButton", 1));
            tryVerify(() => messagePart("editField", 1) && messagePart("editField", 1).activeFocus);
            type("!");
            verify(messagePart("editAccept", 1).enabled);
            Bench.script({ tokens: 5000, tokenMs: 5 });
            Bench.chat.turn.retry();
            tryVerify(() => !messagePart("editAccept", 1).enabled);
            compare(messagePart("editNote", 1).text, "The model is still answering.");
            Bench.chat.turn.stop();
            tryVerify(() => messagePart("editAccept", 1).enabled);
            messagePart("editField", 1).forceActiveFocus();
            keyClick(Qt.Key_Return, Qt.ControlModifier);
            tryVerify(() => messagePart("editField", 1) === null && rawText(1) === "yes!");
        }

        function test_what_is_too_long_to_be_kept_is_said() {
            makeWindow({ text: "yes" });
            openModel();
            answered("one");
            pointAt(1);
            click(messagePart("editButton", 1));
            tryVerify(() => messagePart("editField", 1) && messagePart("editField", 1).activeFocus);
            const editor = messagePart("messageEditor", 1);
            compare(editor.longest, Bench.chat.versions.longest);
            editor.longest = 4;
            type("!");
            verify(messagePart("editAccept", 1).enabled);
            type("!");
            compare(messagePart("editNote", 1).text, "A text of this length cannot be kept. Make it shorter.");
            verify(!messagePart("editAccept", 1).enabled);
            keyClick(Qt.Key_Return, Qt.ControlModifier);
            verify(messagePart("editField", 1) !== null);
            keyClick(Qt.Key_Backspace);
            verify(messagePart("editAccept", 1).enabled);
        }

        function test_what_is_too_long_to_edit_is_not_pasted() {
            makeWindow({ text: "yes" });
            openModel();
            answered("one");
            pointAt(0);
            click(messagePart("editButton", 0));
            tryVerify(() => messagePart("editField", 0) && messagePart("editField", 0).activeFocus);
            Bench.chat.clipboard.copy("x".repeat(300000));
            keyClick(Qt.Key_V, Qt.ControlModifier);
            tryVerify(() => messagePart("editNote", 0).text.indexOf("too long") > 0);
            compare(messagePart("editField", 0).text, "one");
            Bench.chat.clipboard.copy("!");
            keyClick(Qt.Key_V, Qt.ControlModifier);
            tryVerify(() => messagePart("editField", 0).text === "one!");
            verify(messagePart("editNote", 0).text.indexOf("too long") < 0);
        }

        function test_an_edit_survives_scrolling() {
            makeWindow({ tokens: 400 });
            openModel();
            answered("one");
            answered("two");
            answered("three");
            const view = part("messageView");
            view.positionViewAtBeginning();
            tryVerify(() => message(0) !== null);
            message(0).forceActiveFocus();
            tryVerify(() => messagePart("editButton", 0).visible);
            messagePart("editButton", 0).clicked();
            tryVerify(() => messagePart("editField", 0) && messagePart("editField", 0).activeFocus);
            type("!");
            view.positionViewAtEnd();
            tryVerify(() => message(0) === null);
            view.positionViewAtBeginning();
            tryVerify(() => messagePart("editField", 0) !== null);
            compare(messagePart("editField", 0).text, "one!");
        }
    }
}
