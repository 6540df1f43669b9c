// Tests that files are attached, pasted and dropped, that their tokens are counted, and that they go with the message.
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
        name: "Attachments"

        function test_files_are_shown_with_their_tokens_and_sent() {
            makeWindow();
            openModel();
            Bench.composer.attachments.add([Bench.file("notes.md", "one two three"), Bench.file("b.py", "x = 1")]);
            tryVerify(() => !Bench.composer.counting);
            compare(Bench.composer.attachments.count, 2);
            verify(part("draftChip0").Accessible.name.startsWith("notes.md, "));
            tryVerify(() => part("draftChip0").Accessible.name.endsWith("tokens"));
            tryVerify(() => /^\d+ tokens to send, room for [\d,]+$/.test(part("messageCost").text));
            verify(part("sendButton").enabled); // files alone can be sent
            ask("Which?");
            tryVerify(() => !Bench.chat.turn.busy && Bench.requestCount() === 1);
            compare(Bench.lastPrompt(), "File: notes.md\n\n```markdown\none two three\n```\n\n"
                                        + "File: b.py\n\n```python\nx = 1\n```\n\nWhich?");
            compare(Bench.composer.attachments.count, 0);
            verify(!part("draftAttachments").visible);

            // What was sent shows its files, and what the model read of them.
            const chips = messagePart("messageAttachments", 0);
            tryVerify(() => chips.visible);
            const chip = seen(chips, "sentChip");
            verify(chip.Accessible.name.startsWith("b.py, ") || chip.Accessible.name.startsWith("notes.md, "));
            click(chip);
            tryCompare(findChild(part("sentAttachmentText"), "attachmentText"), "activeFocus", true);
            keyClick(Qt.Key_Escape);
        }

        function test_a_chip_is_removed_by_key_and_mouse() {
            makeWindow();
            openModel();
            Bench.composer.attachments.add([Bench.file("a.txt", "a"), Bench.file("b.txt", "b")]);
            tryVerify(() => !Bench.composer.counting);
            click(seen(part("draftChip0"), "removeAttachment"));
            tryCompare(Bench.composer.attachments, "count", 1);
            wait(50); // until the other is gone
            const chip = part("draftChip0");
            chip.forceActiveFocus(Qt.TabFocusReason);
            keyClick(Qt.Key_Delete);
            tryCompare(Bench.composer.attachments, "count", 0);
            tryCompare(part("composerField"), "activeFocus", true);
        }

        function test_enter_on_the_button_of_a_chip_removes_it() {
            makeWindow();
            openModel();
            Bench.composer.attachments.add([Bench.file("a.txt", "a")]);
            tryVerify(() => !Bench.composer.counting);
            seen(part("draftChip0"), "removeAttachment").forceActiveFocus(Qt.TabFocusReason);
            keyClick(Qt.Key_Return);
            compare(Bench.composer.attachments.count, 0);
            verify(!part("draftAttachmentText").visible);
        }

        function test_a_chip_shows_what_the_model_reads() {
            makeWindow();
            openModel();
            Bench.composer.attachments.add([Bench.file("a.txt", "what it <b>says</b>")]);
            tryVerify(() => !Bench.composer.counting);
            click(part("draftChip0"));
            const shown = findChild(part("draftAttachmentText"), "attachmentText");
            tryCompare(shown, "activeFocus", true);
            compare(shown.text, "what it <b>says</b>");
            keyClick(Qt.Key_Escape);
            tryCompare(part("composerField"), "activeFocus", true);
        }

        function test_a_file_that_cannot_be_read_says_why_and_is_not_sent() {
            makeWindow();
            openModel();
            Bench.composer.attachments.add(["file:///nowhere/gone.txt"]);
            tryVerify(() => part("draftChip0").failed);
            compare(part("draftChip0").Accessible.name, "“gone.txt” is not there any more.");
            verify(!part("sendButton").enabled);
            click(seen(part("draftChip0"), "removeAttachment"));
            tryCompare(Bench.composer.attachments, "count", 0);
        }

        function test_too_much_for_the_context_is_said_before_it_is_sent() {
            makeWindow({ context: 60 });
            openModel();
            Bench.composer.attachments.add([Bench.file("long.txt", "word ".repeat(500))]);
            tryVerify(() => Bench.composer.tooMuch);
            verify(/^With this message the prompt needs 50\d tokens, and the context holds 60\.$/.test(part("messageCost").text), part("messageCost").text);
        }

        function sentTooLong(files) {
            makeWindow({ text: "yes", context: 60, modelContext: 60 });
            openModel();
            for (const file of files)
                Bench.composer.attachments.add([Bench.file(file[0], file[1])]);
            tryVerify(() => Bench.composer.tooMuch && !Bench.composer.counting);
            keyClick(Qt.Key_Return);
            tryVerify(() => !Bench.chat.turn.busy && lastStatus() === MessageModel.Failed);
            tryVerify(() => part("contextNotice").visible && part("contextNotice").tooLong);
            click(findChild(part("contextNotice"), "contextEdit"));
            tryVerify(() => part("editField").activeFocus);
        }
        function editedChip(name) {
            const chips = messagePart("editedAttachments", 0);
            for (let i = 0; chips && i < chips.children.length; ++i) // which is no list that "of" takes
                if (chips.children[i].objectName === "sentChip" && chips.children[i].name === name)
                    return chips.children[i];
            return null;
        }
        function test_a_file_that_is_too_long_is_taken_out_of_the_message() {
            sentTooLong([["long.txt", "word ".repeat(500)], ["short.txt", "one"]]);
            compare(part("editField").text, "");
            verify(!messagePart("messageAttachments", 0).visible); // they are in the editor meanwhile
            tryVerify(() => editedChip("long.txt") && editedChip("short.txt"));
            click(editedChip("long.txt")); // is it this one?
            tryCompare(findChild(part("sentAttachmentText"), "attachmentText"), "activeFocus", true);
            keyClick(Qt.Key_Escape);
            click(seen(editedChip("long.txt"), "removeAttachment"));
            tryVerify(() => editedChip("long.txt") === null);
            tryCompare(part("editField"), "activeFocus", true);
            verify(part("editAccept").enabled); // the other file is enough
            keyClick(Qt.Key_Return);
            tryVerify(() => !Bench.chat.turn.busy && lastStatus() === MessageModel.Complete);
            compare(Bench.lastPrompt(), "File: short.txt\n\n```\none\n```\n\n");
            // The version before has both still.
            tryVerify(() => messagePart("previousVersion", 0).visible);
            click(messagePart("previousVersion", 0));
            tryVerify(() => messagePart("messageAttachments", 0).attachments.length === 2);
        }
        function test_a_file_that_is_too_long_is_shortened_in_the_message() {
            sentTooLong([["long.txt", "word ".repeat(500)]]);
            type("why?");
            click(seen(editedChip("long.txt"), "takeInAttachment"));
            tryVerify(() => editedChip("long.txt") === null);
            tryCompare(part("editField"), "activeFocus", true);
            compare(part("editField").text, "word ".repeat(500) + "\n\nwhy?");
            keyClick(Qt.Key_Z, Qt.ControlModifier); // the text goes out again, and the file is there as before
            tryVerify(() => editedChip("long.txt") !== null);
            compare(part("editField").text, "why?");
            keyClick(Qt.Key_Z, Qt.ControlModifier | Qt.ShiftModifier);
            tryVerify(() => editedChip("long.txt") === null);
            compare(part("editField").text, "word ".repeat(500) + "\n\nwhy?");
            part("editField").remove(20, 2500);
            keyClick(Qt.Key_Z, Qt.ControlModifier); // what was cut is there again
            compare(part("editField").text, "word ".repeat(500) + "\n\nwhy?");
            verify(editedChip("long.txt") === null);
            keyClick(Qt.Key_Z, Qt.ControlModifier); // and the text goes out
            compare(part("editField").text, "why?");
            tryVerify(() => editedChip("long.txt") !== null);
            keyClick(Qt.Key_Z, Qt.ControlModifier | Qt.ShiftModifier);
            tryVerify(() => editedChip("long.txt") === null);
            part("editField").remove(20, 2500);
            keyClick(Qt.Key_Return);
            tryVerify(() => !Bench.chat.turn.busy && lastStatus() === MessageModel.Complete);
            compare(Bench.lastPrompt(), "word word word word \n\nwhy?");
            verify(!messagePart("messageAttachments", 0).visible);
        }
        function test_a_file_that_was_removed_stays_away_whatever_is_undone() {
            sentTooLong([["long.txt", "a\u00a0b ".repeat(300)]]); // the field has a space for such a one
            type("why?");
            click(seen(editedChip("long.txt"), "takeInAttachment"));
            tryVerify(() => editedChip("long.txt") === null);
            tryCompare(part("editField"), "activeFocus", true);
            keyClick(Qt.Key_Z, Qt.ControlModifier);
            tryVerify(() => editedChip("long.txt") !== null);
            click(seen(editedChip("long.txt"), "removeAttachment"));
            tryVerify(() => editedChip("long.txt") === null);
            tryCompare(part("editField"), "activeFocus", true);
            keyClick(Qt.Key_Z, Qt.ControlModifier);
            verify(part("editField").text !== "why?");
            wait(0);
            verify(editedChip("long.txt") === null);
        }
        function test_a_message_left_as_it_was_keeps_its_files() {
            sentTooLong([["long.txt", "word ".repeat(500)]]);
            click(seen(editedChip("long.txt"), "removeAttachment"));
            tryVerify(() => editedChip("long.txt") === null);
            verify(!part("editAccept").enabled); // nothing is left
            keyClick(Qt.Key_Escape);
            tryVerify(() => messagePart("messageAttachments", 0).visible);
            compare(messagePart("messageAttachments", 0).attachments.length, 1);
        }

        function test_several_errors_leave_the_composer_its_room() {
            makeWindow();
            openModel();
            const tall = part("composer").implicitHeight;
            const gone = [];
            for (let i = 0; i < 5; ++i)
                gone.push("file:///nowhere/gone" + i + ".txt");
            Bench.composer.attachments.add(gone);
            Bench.composer.attachments.add([Bench.file("good.txt", "a")]);
            tryVerify(() => Bench.composer.attachments.failed === 5 && !Bench.composer.counting);
            tryVerify(() => part("failedFiles").visible);
            verify(!part("draftChip0").visible && part("draftChip5").visible);
            tryVerify(() => part("composer").implicitHeight < tall + 140);
            click(part("unfoldFailed"));
            tryVerify(() => part("draftChip0").visible);
            compare(part("draftChip0").Accessible.name, "“gone0.txt” is not there any more.");
            click(part("dismissFailed"));
            tryCompare(Bench.composer.attachments, "count", 1);
            verify(!part("failedFiles").visible);
            compare(part("draftChip0").Accessible.name.split(",")[0], "good.txt");
        }

        function test_pasted_files_are_attached() {
            makeWindow();
            openModel();
            Bench.copy("", [Bench.file("a.txt", "a")]);
            keyClick(Qt.Key_V, Qt.ControlModifier);
            tryCompare(Bench.composer.attachments, "count", 1);
            compare(part("composerField").text, "");
        }

        function test_a_pasted_picture_is_refused_with_a_sentence() {
            makeWindow();
            openModel();
            type("look");
            Bench.copyPicture();
            keyClick(Qt.Key_V, Qt.ControlModifier);
            const notice = part("attachmentNotice");
            tryCompare(notice, "visible", true);
            compare(notice.sentence, "What was copied is a picture, and pictures cannot be read yet.");
            compare(part("composerField").text, "look");
            compare(Bench.composer.attachments.count, 0);
            keyClick(Qt.Key_Return); // the words can be sent nevertheless
            tryVerify(() => Bench.chat.messages.count === 2);
            verify(!notice.visible);
        }

        function test_a_short_paste_is_text() {
            makeWindow();
            openModel();
            Bench.copy("short");
            keyClick(Qt.Key_V, Qt.ControlModifier);
            compare(part("composerField").text, "short");
            compare(Bench.composer.attachments.count, 0);
        }

        function test_a_long_paste_becomes_a_file_and_can_come_back() {
            makeWindow();
            openModel();
            Bench.copy("0123456789".repeat(3000));
            keyClick(Qt.Key_V, Qt.ControlModifier);
            tryCompare(Bench.composer.attachments, "count", 1);
            compare(part("composerField").text, "");
            tryVerify(() => !Bench.composer.counting);
            verify(part("pasteNotice").visible);
            click(findChild(part("pasteNotice"), "noticeAction"));
            tryCompare(Bench.composer.attachments, "count", 0);
            compare(part("composerField").length, 30000);
            verify(!part("pasteNotice").visible);
        }

        // With each key in it Qt lays the whole paragraph out anew.
        function test_a_notice_is_read_at_large_text_in_a_small_window() {
            Theme.scale = 2;
            parent.width = 640;
            makeWindow();
            openModel();
            Bench.copy("word ".repeat(5000));
            keyClick(Qt.Key_V, Qt.ControlModifier);
            const notice = part("pasteNotice");
            tryCompare(notice, "visible", true);
            const sentence = findChild(notice, "noticeSentence"), action = findChild(notice, "noticeAction"), dismiss = findChild(notice, "noticeDismiss");
            const right = item => item.mapToItem(notice, item.width, 0).x;
            tryVerify(() => sentence.width > notice.width / 2 && sentence.contentWidth <= sentence.width, 5000, sentence.width);
            tryVerify(() => right(action) <= notice.width && right(dismiss) <= notice.width);
            tryVerify(() => action.mapToItem(notice, 0, 0).y >= sentence.y + sentence.height);
            tryVerify(() => action.mapToItem(notice, 0, action.height).y <= notice.height);
            tryVerify(() => !action.contentItem.truncated && action.contentItem.contentWidth <= action.availableWidth);
            Theme.scale = 1;
            parent.width = 1024;
            tryVerify(() => right(sentence) <= action.mapToItem(notice, 0, 0).x); // where there is room, in one line
            tryVerify(() => action.mapToItem(notice, 0, 0).y < sentence.mapToItem(notice, 0, sentence.height).y);
        }

        function test_several_errors_are_in_a_small_window() {
            Theme.scale = 2;
            parent.width = 640;
            makeWindow();
            openModel();
            Bench.composer.attachments.add(["file:///nowhere/a.txt", "file:///nowhere/b.txt"]);
            tryVerify(() => part("failedFiles").visible);
            const dismiss = part("dismissFailed");
            tryVerify(() => dismiss.mapToItem(part("composer"), dismiss.width, 0).x <= part("composer").width);
            click(dismiss);
            tryCompare(Bench.composer.attachments, "count", 0);
            Theme.scale = 1;
            parent.width = 1024;
        }

        function test_a_long_paragraph_becomes_a_file() {
            makeWindow();
            openModel();
            Bench.copy("some words\n".repeat(800)); // as long, in lines
            keyClick(Qt.Key_V, Qt.ControlModifier);
            compare(part("composerField").length, 8800);
            part("composerField").text = "";
            Bench.copy("some words ".repeat(800));
            keyClick(Qt.Key_V, Qt.ControlModifier);
            tryCompare(Bench.composer.attachments, "count", 1);
            compare(part("composerField").text, "");
            tryCompare(part("pasteNotice"), "visible", true);
            Bench.copy("some words ".repeat(4000));
            keyClick(Qt.Key_V, Qt.ControlModifier);
            tryCompare(Bench.composer.attachments, "count", 2);
            tryCompare(part("pasteNotice"), "visible", false); // that would take too long with every key
        }

        function test_a_huge_paste_does_not_hold_up_the_window() {
            makeWindow();
            openModel();
            Bench.copy("0123456789 word\n".repeat(70000));
            const before = Date.now();
            keyClick(Qt.Key_V, Qt.ControlModifier);
            verify(Date.now() - before < 1000);
            tryCompare(Bench.composer.attachments, "count", 1);
            verify(!part("pasteNotice").visible); // too long for the field
            tryVerify(() => !Bench.composer.counting);
        }

        function test_what_is_dropped_is_told_apart() {
            makeWindow();
            const overlay = part("dropOverlay");
            verify(overlay.isModel(["file:///a/tiny.GGUF"]));
            verify(!overlay.isModel(["file:///a/notes.md"]));
            verify(!overlay.isModel(["file:///a/tiny.gguf", "file:///a/notes.md"]));
            verify(!overlay.isModel([]));
        }

        function test_what_is_dropped_stays_where_it_is() {
            makeWindow();
            openModel();
            const file = Bench.file("a.txt", "a");
            compare(Bench.dropToMove(shell, [file], Qt.CopyAction | Qt.MoveAction), Qt.CopyAction);
            tryCompare(Bench.composer.attachments, "count", 1);
            verify(!part("dropOverlay").containsDrag);
            compare(Bench.dropToMove(shell, [file], Qt.MoveAction), Qt.IgnoreAction); // it would be deleted
            compare(Bench.composer.attachments.count, 1);
        }

        function test_the_ledger_and_the_meter_agree() {
            makeWindow({ tokens: 200, tokenMs: 20 });
            openModel();
            ask("hello");
            tryVerify(() => lastText().length > 20);
            click(part("contextMeter"));
            tryVerify(() => part("ledger_written").visible);
            const used = () => part("contextText").text.split(" ")[0];
            tryVerify(() => part("ledgerUsed").text.startsWith(used() + " of "));
            keyClick(Qt.Key_Escape);
            Bench.chat.turn.stop();
            tryVerify(() => !Bench.chat.turn.busy);
            wait(500); // it is counted once more
            click(part("contextMeter"));
            tryVerify(() => part("ledgerUsed").text.startsWith(used() + " of "));
            verify(!part("ledger_written").visible);
        }

        function test_the_ledger_shows_what_the_message_adds() {
            makeWindow();
            openModel();
            Bench.composer.attachments.add([Bench.file("a.txt", "one two three four")]);
            tryVerify(() => !Bench.composer.counting && Bench.composer.tokens > 0);
            tryVerify(() => Bench.chat.context.ledger.known);
            click(part("contextMeter"));
            tryVerify(() => part("ledger_draft").visible);
            verify(part("ledger_draft").Accessible.name.endsWith(Bench.composer.tokens + " tokens"));
            keyClick(Qt.Key_Escape);
            tryCompare(part("contextMeter"), "activeFocus", true);
            const attached = Bench.composer.attachedTokens;
            part("composerField").forceActiveFocus();
            keyClick(Qt.Key_Return);
            tryVerify(() => !Bench.chat.turn.busy && Bench.chat.context.ledger.attachedTokens === attached);
            compare(Bench.composer.tokens, 0);
        }
    }
}
