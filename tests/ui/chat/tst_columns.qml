// Tests that several versions of an answer can be asked for, read side by side while they are made, and one be kept.
import QtQuick
import QtTest
import Spillway.App
import Spillway.Tests
import ".."

Item {
    id: root

    width: 1024
    height: 640

    WindowCase {
        name: "Columns"

        function column(at) {
            return part("answerColumns").itemAtIndex(at);
        }
        function columnPart(name, at) {
            return findChild(column(at), name);
        }
        // A conversation with one answer, of which this many more are asked for by the menu.
        function askAgain(versions) {
            openModel();
            ask("hello");
            tryVerify(() => !Bench.chat.turn.busy && footer() && footer().visible);
            click(messagePart("retryMenuButton"));
            tryVerify(() => seen(shell.Window.window.contentItem, "versions" + versions) !== null);
            click(part("versions" + versions));
            tryVerify(() => Bench.chat.comparison.shown);
            tryCompare(part("answerColumns"), "count", 1 + versions);
        }
        function settled() {
            tryVerify(() => !Bench.chat.turn.busy);
        }
        function across(at) {
            const view = part("answerColumns");
            if (!column(at))
                return false; // not made yet
            const x = column(at).mapToItem(view, 0, 0).x;
            return x >= -1 && x + column(at).width <= view.width + 1;
        }
        function test_wide_code_moves_by_keys_before_the_next_column_does() {
            makeWindow({ text: "```js\n" + "very_long ".repeat(12) + "\n```" });
            askAgain(2);
            settled();
            tryVerify(() => columnPart("codeFlick", 1) && columnPart("codeFlick", 1).overflows);
            const view = part("answerColumns"), flick = columnPart("codeFlick", 1);
            column(1).forceActiveFocus(Qt.TabFocusReason);
            tryCompare(view, "currentIndex", 1);
            keyClick(Qt.Key_Right);
            compare(flick.contentX, 60);
            keyClick(Qt.Key_Left);
            compare(flick.contentX, 0);
            for (let i = 0; i < 100 && view.currentIndex === 1; ++i)
                keyClick(Qt.Key_Right);
            compare(flick.contentX, flick.contentWidth - flick.width);
            compare(view.currentIndex, 2);
        }
        function test_they_are_made_side_by_side_and_one_is_kept() {
            makeWindow({ text: "some words" });
            askAgain(2);
            settled();
            verify(!part("messageList").visible);
            compare(part("comparedQuestion").text, "hello");
            tryVerify(() => across(1) && across(2)); // the two new versions
            verify(!across(0));
            verify(column(1).shown && !column(2).shown);
            tryVerify(() => columnPart("columnNumbers", 2).visible);
            verify(!columnPart("stopVersion", 2).visible);
            click(columnPart("keepVersion", 2));
            tryVerify(() => !Bench.chat.comparison.shown);
            verify(part("messageList").visible);
            tryVerify(() => messagePart("versionText") && messagePart("versionText").text === "3/3");
            tryCompare(part("composerField"), "activeFocus", true);
        }

        function test_one_is_stopped_while_the_others_go_on() {
            makeWindow({ tokens: 3, context: 100010 }); // so that the long answers do not fill it on a slow machine
            Bench.script({ tokens: 3 });
            openModel();
            ask("hello");
            tryVerify(() => !Bench.chat.turn.busy && footer() && footer().visible);
            Bench.script({ tokens: 100000, tokenMs: 5 });
            Bench.chat.turn.regenerateTogether(lastMessage(MessageModel.MessageIdRole), 2);
            tryVerify(() => part("answerColumns").count === 3 && column(2) && column(2).status === MessageModel.Streaming);
            tryVerify(() => column(1).status === MessageModel.Streaming);
            tryVerify(() => columnPart("columnNumbers", 1).visible && columnPart("columnNumbers", 2).visible); // how fast each is
            const body = columnPart("columnBody", 1);
            tryVerify(() => body.contentHeight > 2 * body.height);
            verify(body.atYEnd); // it follows the newest text
            click(columnPart("stopVersion", 2));
            tryCompare(column(2), "status", MessageModel.Stopped);
            compare(columnPart("answerEnding", 2).text, "Stopped");
            const length = column(1).beginning.length;
            const height = body.contentHeight;
            tryVerify(() => body.contentHeight > height);
            verify(Bench.chat.turn.busy);

            // Who reads above is not pulled down.
            column(1).forceActiveFocus(Qt.TabFocusReason);
            keyClick(Qt.Key_Home);
            const taller = body.contentHeight;
            tryVerify(() => body.contentHeight > taller);
            compare(body.contentY, 0);
            keyClick(Qt.Key_PageDown);
            verify(body.contentY > 0);
            keyClick(Qt.Key_End);
            tryVerify(() => body.atYEnd);

            keyClick(Qt.Key_Escape); // the answers first
            settled();
            verify(Bench.chat.comparison.shown);
            compare(column(1).status, MessageModel.Stopped);
            tryVerify(() => columnPart("columnNumbers", 1).visible);
            verify(body.atYEnd); // its end is not hidden by what came below it
            keyClick(Qt.Key_Escape);
            tryVerify(() => !Bench.chat.comparison.shown);
            tryVerify(() => messagePart("versionText") && messagePart("versionText").text === "2/3");
        }

        function test_one_that_failed_says_why() {
            makeWindow({ text: "fine" });
            openModel();
            ask("hello");
            tryVerify(() => !Bench.chat.turn.busy && footer() && footer().visible);
            Bench.script({ error: "there is no memory left", errorAfter: 0 });
            Bench.chat.turn.regenerateTogether(lastMessage(MessageModel.MessageIdRole), 2);
            settled();
            tryVerify(() => part("answerColumns").count === 3 && column(2) && columnPart("columnNotice", 2).visible);
            compare(columnPart("columnNotice", 2).sentence, "There is no memory left.");
            verify(!columnPart("columnNumbers", 2).visible);
            const notice = columnPart("columnNotice", 2);
            tryVerify(() => notice.mapToItem(column(2), 0, 0).y < column(2).height / 2); // in sight
            verify(notice.mapToItem(column(2), 0, 0).y > 0);
            verify(columnPart("columnBody", 2).height > 0.5 * column(2).height); // without numbers, too
            compare(column(0).status, MessageModel.Complete);
            click(part("closeColumns"));
            tryVerify(() => !Bench.chat.comparison.shown);
            tryVerify(() => messagePart("answerNotice") && messagePart("answerNotice").visible);
        }

        function test_they_are_compared_later_by_keyboard() {
            makeWindow({ text: "first" });
            openModel();
            ask("hello");
            tryVerify(() => !Bench.chat.turn.busy && footer() && footer().visible);
            verify(!messagePart("compareButton") || !messagePart("compareButton").visible);
            Bench.script({ text: "second" });
            keyClick(Qt.Key_R, Qt.ControlModifier);
            tryVerify(() => !Bench.chat.turn.busy && lastText() === "second");
            tryVerify(() => messagePart("compareButton") && messagePart("compareButton").visible);
            messagePart("compareButton").forceActiveFocus(Qt.TabFocusReason);
            keyClick(Qt.Key_Return);
            tryVerify(() => Bench.chat.comparison.shown);
            tryVerify(() => column(1) && column(1).activeFocus);
            compare(Bench.namelessControls(shell).join(), "");
            compare(Bench.unspokenStops(shell).join(), "");
            compare(Bench.unreachable(shell).join(), "");
            verify(column(1).activeFocus);
            const controls = Bench.controls(shell).join("\n");
            for (const name of ["List: Versions of the answer", "Button: Keep this one: version 2",
                                "Button: Copy this version", "Button: Back to the conversation"])
                verify(controls.indexOf(name) >= 0, name + " is not among\n" + controls);
            compare(column(0).Accessible.name, "Version 1 of 2: first");
            keyClick(Qt.Key_Left);
            tryVerify(() => column(0).activeFocus);
            columnPart("keepVersion", 0).forceActiveFocus(Qt.TabFocusReason);
            keyClick(Qt.Key_Return);
            tryVerify(() => !Bench.chat.comparison.shown && lastText() === "first");

            // What is written goes on with it, and what is typed over the columns is meant for the message.
            tryVerify(() => messagePart("compareButton") && messagePart("compareButton").visible);
            click(messagePart("compareButton"));
            tryVerify(() => Bench.chat.comparison.shown && column(0) && column(0).activeFocus);
            ask("more");
            tryVerify(() => !Bench.chat.comparison.shown);
            settled();
            compare(Bench.chat.messages.count, 4);
        }

        function test_small_and_large_windows() {
            for (const size of [[480, 480], [640, 480], [1024, 640], [2560, 1440]]) {
                root.width = size[0];
                root.height = size[1];
                makeWindow({ tokens: 300 });
                askAgain(3);
                settled();
                const view = part("answerColumns");
                tryVerify(() => column(1) && column(1).width > 200);
                verify(column(1).width <= 760);
                tryVerify(() => across(1) && column(3));
                compare(across(2), size[0] > 480); // two at least in a usual window
                compare(size[0] === 2560, across(0) && across(3));
                for (const name of ["keepVersion", "columnNumbers", "copyVersion"]) {
                    const there = columnPart(name, 1);
                    const corner = there.mapToItem(view, there.width, there.height);
                    verify(corner.x <= view.width && corner.y <= view.height, name + " leaves the columns at " + size);
                }
                columnPart("keepVersion", 3).forceActiveFocus(Qt.TabFocusReason);
                tryVerify(() => across(3));
                cleanup();
            }
            root.width = 1024;
            root.height = 640;
        }

        function test_what_else_leads_away_from_them() {
            makeWindow({ text: "words" });
            askAgain(2);
            settled();
            const answer = lastMessage(MessageModel.MessageIdRole);
            part("composerField").forceActiveFocus();
            keyClick(Qt.Key_Up); // edits the last question
            tryVerify(() => !Bench.chat.comparison.shown);
            tryVerify(() => messagePart("editField", 0) && messagePart("editField", 0).activeFocus);
            keyClick(Qt.Key_Escape);
            Bench.chat.comparison.show(answer);
            tryVerify(() => Bench.chat.comparison.shown);
            part("chatPage").showMessage(answer, "words"); // a search
            tryVerify(() => !Bench.chat.comparison.shown);
            Bench.chat.comparison.show(answer);
            keyClick(Qt.Key_N, Qt.ControlModifier);
            tryVerify(() => !Bench.chat.comparison.shown);
        }
    }
}
