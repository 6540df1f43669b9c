// Tests what can be done with a message: continue it, branch from it, wait for it, leave it out.
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
        name: "Messages"

        function answered(text) {
            ask(text);
            tryVerify(() => !Bench.chat.turn.busy);
            tryVerify(() => footer() && footer().visible);
            wait(50); // until the list has found its end
        }
        // The actions of a message that is not the last appear when one points at it.
        function pointAt(row) {
            tryVerify(() => message(row));
            mouseMove(message(row), message(row).width / 2, 4);
            tryVerify(() => messagePart("copyButton", row) && messagePart("copyButton", row).visible);
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
            tryVerify(() => !Bench.chat.turn.busy && footer().visible);
            compare(messagePart("answerEnding").text, "Stopped");
            const before = rawText(1);
            Bench.script({ text: "the end" });
            click(messagePart("rawButton"));
            tryVerify(() => messagePart("rawBlock") !== null);
            click(messagePart("continueButton"));
            tryVerify(() => !Bench.chat.turn.busy && rawText(1) === before + "the end");
            verify(messagePart("rawBlock") === null); // the raw text would not be renewed, so it is closed
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
            makeWindow({ tokens: 5000, tokenMs: 5, atOnce: 1 });
            openModel();
            ask("first");
            tryVerify(() => lastText().length > 20);
            keyClick(Qt.Key_N, Qt.ControlModifier);
            tryVerify(() => !Bench.chat.turn.busy);
            ask("second");
            tryVerify(() => messagePart("queuedText") && messagePart("queuedText").visible);
            verify(part("sendButton").stops);
            compare(Bench.namelessControls(shell).join(), "");
            keyClick(Qt.Key_Escape);
            tryVerify(() => messagePart("answerButton").visible);
            verify(!Bench.chat.turn.busy);
            click(messagePart("answerButton"));
            tryVerify(() => Bench.chat.turn.queued);
        }

        function test_a_queue_while_a_model_loads() {
            makeWindow({ tokens: 5000, tokenMs: 5, atOnce: 1 });
            openModel();
            ask("first");
            tryVerify(() => lastText().length > 20);
            keyClick(Qt.Key_N, Qt.ControlModifier);
            tryVerify(() => !Bench.chat.turn.busy);
            ask("second");
            tryVerify(() => messagePart("queuedText") && messagePart("queuedText").visible);
            compare(messagePart("queuedText").text, "Waits for another conversation's answer");
            Bench.script({ text: "done", loadMs: 1500 });
            Bench.models.reload();
            tryVerify(() => messagePart("queuedText").text === "Waits until the model has loaded");
            tryVerify(() => !Bench.chat.turn.busy && lastText() === "done");
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
            tryVerify(() => !Bench.chat.turn.busy && lastText().endsWith("and the rest"));
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
            tryVerify(() => !Bench.chat.turn.busy && lastText().endsWith("and the rest"));
            verify(part("contextText").text.endsWith("/ 80"));
        }

        function test_a_full_context_in_which_no_room_can_be_made() {
            makeWindow({ tokens: 60, context: 40, modelContext: 40 });
            openModel();
            answered("one");
            const notice = part("contextNotice");
            tryCompare(notice, "visible", true);
            verify(!findChild(notice, "dropOldest").visible && !findChild(notice, "raiseContext").visible);
            compare(findChild(notice, "contextSentence").text,
                    "The context is full, and no room can be made in it. Go on in a new conversation.");
            verify(findChild(notice, "contextNew").visible);
        }

        // Without a template the newest message alone is read: the ones before take no room that could be given back.
        function test_without_a_template_no_message_is_left_out() {
            makeWindow({ tokens: 10, context: 40, modelContext: 40, template: false });
            openModel();
            answered("one");
            Bench.script({ tokens: 60 });
            answered("two");
            const notice = part("contextNotice");
            tryCompare(notice, "visible", true);
            verify(!findChild(notice, "dropOldest").visible);
        }

        function tooLong(context) {
            makeWindow({ tokens: 3, context: 60, modelContext: context });
            openModel();
            part("composerField").text = "w ".repeat(80);
            tryCompare(part("messageCost"), "text", "With this message the prompt needs 84 tokens, and the context holds 60.");
            keyClick(Qt.Key_Return);
            tryVerify(() => !Bench.chat.turn.busy && lastStatus() === MessageModel.Failed);
            const notice = part("contextNotice");
            tryVerify(() => notice.visible && notice.tooLong);
            // Both sentences have one number, that of the whole prompt, which the engine counted.
            compare(messagePart("answerNotice").sentence, "The prompt needs 84 tokens and the context holds 60.");
            compare(findChild(notice, "contextSentence").text, "Your message alone is longer than the context. Make it shorter, or the context larger.");
            // Only what can work is offered.
            verify(!findChild(notice, "dropOldest").visible);
            verify(!findChild(notice, "contextNew").visible);
            verify(!findChild(messagePart("answerNotice"), "noticeAction").visible);
            return notice;
        }
        function test_a_message_that_is_too_long_is_made_shorter() {
            const notice = tooLong(60);
            verify(!findChild(notice, "raiseContext").visible);
            click(findChild(notice, "contextEdit"));
            tryVerify(() => part("editField").activeFocus);
            part("editField").text = "short";
            keyClick(Qt.Key_Return);
            tryVerify(() => !Bench.chat.turn.busy && lastStatus() === MessageModel.Complete);
            verify(!notice.visible);
        }
        function test_a_message_that_is_too_long_gets_a_context_it_fits() {
            const notice = tooLong(4096);
            const raise = findChild(notice, "raiseContext");
            verify(raise.visible);
            verify(raise.text.includes("1,024"), raise.text);
            click(raise);
            tryVerify(() => !Bench.chat.turn.busy && lastStatus() === MessageModel.Complete);
        }

        function test_a_long_question_is_folded() {
            makeWindow({ tokens: 3 });
            openModel();
            part("composerField").text = "a line of it\n".repeat(40) + "the end";
            keyClick(Qt.Key_Return);
            tryVerify(() => !Bench.chat.turn.busy && Bench.chat.messages.count === 2);
            part("messageView").positionViewAtBeginning();
            tryVerify(() => message(0) && messagePart("foldButton", 0).visible);
            const fold = messagePart("messageFold", 0), button = messagePart("foldButton", 0);
            const low = fold.height;
            const lines = Math.round(low / (messagePart("textBlock", 0).implicitHeight / 41));
            verify(lines >= 11 && lines <= 14, lines + " lines");
            verify(fold.clip);
            compare(button.text, "Show all");
            click(button);
            tryVerify(() => fold.height > 3 * low && !fold.clip);
            compare(button.text, "Show less");
            // It stays unfolded when it is scrolled away and back.
            part("messageView").positionViewAtEnd();
            part("messageView").positionViewAtBeginning();
            tryVerify(() => message(0) && messagePart("messageFold", 0).height > 3 * low);
            button.clicked();
            tryVerify(() => messagePart("messageFold", 0).height === low);
        }
        function test_a_short_question_is_not_folded() {
            makeWindow({ tokens: 3 });
            openModel();
            part("composerField").text = "a line of it\n".repeat(11) + "end";
            keyClick(Qt.Key_Return);
            tryVerify(() => !Bench.chat.turn.busy && Bench.chat.messages.count === 2);
            tryVerify(() => message(0));
            verify(!messagePart("foldButton", 0).visible);
            verify(!messagePart("messageFold", 0).clip);
        }
        function test_an_answer_names_its_model() {
            makeWindow({ tokens: 3 });
            openModel();
            answered("one");
            answered("two");
            tryVerify(() => messagePart("answerModel", 1) && messagePart("answerModel", 3));
            for (const row of [1, 3]) {
                verify(messagePart("answerModel", row).visible);
                compare(messagePart("answerModel", row).text, "tiny");
            }
            verify(!messagePart("answerModel", 2).visible);
        }

        function test_near_the_end() {
            makeWindow({ tokens: 5000, tokenMs: 40, context: 600 }); // 60 tokens are left then: 2.4 s
            openModel();
            part("composerField").text = "w ".repeat(525);
            keyClick(Qt.Key_Return);
            const notice = part("contextNotice");
            tryCompare(notice, "visible", true);
            verify(Bench.chat.turn.busy);
            click(findChild(notice, "contextDismiss"));
            verify(!Bench.chat.context.nearlyFull);
            tryVerify(() => !Bench.chat.turn.busy);
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

        // What was guessed is marked on demand.
        function test_what_was_guessed_is_marked() {
            makeWindow({ stream: " **Zebras** graze", drafted: 4, guessed: [1, 3, 10, 17] });
            openModel();
            answered("one");
            click(messagePart("rawButton"));
            tryVerify(() => messagePart("rawBlock") !== null);
            compare(messagePart("rawBlock").text, "**Zebras** graze");
            compare(messagePart("rawBlock").marked.length, 0);
            const button = messagePart("guessMarksButton");
            compare(button.text, "Mark what was guessed ahead");
            const tinted = place => {
                const block = messagePart("rawBlock"), box = block.positionToRectangle(place);
                const at = block.mapToItem(shell, box.x + 1, box.y + 1);
                waitForRendering(block);
                return Qt.colorEqual(grabImage(shell).pixel(Math.round(at.x), Math.round(at.y)), Theme.guessed);
            };
            verify(!tinted(0));
            click(button);
            compare(Array.from(messagePart("rawBlock").marked).join(), "0,2,9,16"); // a space begins it, which is not shown
            verify(tinted(0));
            verify(!tinted(4));
            verify(tinted(12));
            compare(messagePart("rawBlock").text, "**Zebras** graze");
            compare(button.text, "Take the marks away");
            click(button);
            verify(!tinted(0));

            Bench.script({ guessed: [] });
            answered("two");
            click(messagePart("rawButton"));
            tryVerify(() => messagePart("rawBlock") !== null);
            verify(!messagePart("guessMarksButton").visible);
        }

        function edit(row) {
            pointAt(row);
            tryVerify(() => messagePart("editButton", row) && messagePart("editButton", row).enabled);
            messagePart("editButton", row).clicked(); // the list may still move on a busy machine
            tryVerify(() => messagePart("editField", row) && messagePart("editField", row).activeFocus);
        }
        function test_an_edit_that_was_left_goes_on() {
            makeWindow({ tokens: 3 });
            openModel();
            answered("first");
            answered("second");
            edit(0);
            type(" and more");
            edit(2);
            compare(messagePart("editField", 2).text, "second");
            edit(0);
            compare(messagePart("editField", 0).text, "first and more");
            const conversation = Bench.chat.conversationId;
            Bench.chat.newConversation();
            tryVerify(() => Bench.chat.messages.count === 0);
            verify(Bench.chat.open(conversation));
            tryVerify(() => message(0));
            tryVerify(() => !messagePart("editField", 0));
            edit(0);
            compare(messagePart("editField", 0).text, "first and more");
            keyClick(Qt.Key_Escape); // it is given up
            edit(0);
            compare(messagePart("editField", 0).text, "first");
        }

        function test_what_fills_the_context_stays_in_a_small_window() {
            Theme.scale = 2;
            parent.width = 640;
            parent.height = 480;
            makeWindow();
            openModel();
            const popup = findChild(part("contextMeter"), "ledgerPopup");
            click(part("contextMeter"));
            tryCompare(popup, "opened", true);
            const inside = popup.contentItem;
            tryVerify(() => {
                const place = inside.mapToItem(shell, 0, 0);
                return place.x >= 0 && place.x + inside.width <= shell.width && place.y >= 0;
            });
            keyClick(Qt.Key_Escape);
            Theme.scale = 1;
            parent.width = 1024;
            parent.height = 640;
        }

        function test_the_context_meter_opens_and_closes_its_numbers() {
            makeWindow({ tokens: 3 });
            openModel();
            answered("one two");
            const popup = findChild(part("contextMeter"), "ledgerPopup");
            click(part("contextMeter"));
            tryCompare(popup, "opened", true);
            click(part("contextMeter"));
            tryCompare(popup, "visible", false);
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
            verify(tip.indexOf("Guessed") < 0, tip);
        }

        function test_what_drafts_brought() {
            makeWindow({ tokens: 3, drafted: 8 });
            openModel();
            answered("one two");
            const numbers = messagePart("answerNumbers");
            verify(numbers.text.indexOf("4 of 8 guessed tokens were right") >= 0, numbers.text);
            verify(numbers.Accessible.description.indexOf("Guessed ahead: 8 tokens, of which the answer has 4") >= 0, numbers.Accessible.description);
            // Where there is no room for all, none is cut in its middle.
            const shown = findChild(numbers, "shownNumbers");
            root.width = 1600; // whatever the speed is
            tryCompare(shown, "text", numbers.text);
            root.width = 480;
            tryVerify(() => shown.text.startsWith("3 tokens") && shown.text.endsWith("…"), 5000, shown.text);
            verify(!shown.truncated);
            root.width = 1600;
            tryCompare(shown, "text", numbers.text);
            root.width = 1024;
        }
    }
}
