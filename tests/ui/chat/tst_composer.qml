// Tests what each key does in the composer, and that it refuses what cannot be sent.
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
        name: "Composer"

        function test_enter_sends() {
            makeWindow();
            openModel();
            ask("hello");
            compare(part("composerField").text, "");
            tryVerify(() => !Bench.chat.turn.busy);
            compare(Bench.lastPrompt(), "hello");
        }

        function test_keypad_enter_sends() {
            makeWindow();
            openModel();
            type("hi");
            keyClick(Qt.Key_Enter);
            tryCompare(Bench.chat.messages, "count", 2);
        }

        function test_shift_enter_breaks_the_line_and_it_grows() {
            makeWindow();
            openModel();
            const field = part("composerField");
            const composer = part("composer");
            const low = composer.implicitHeight;
            for (let i = 0; i < 4; ++i) {
                type("line");
                keyClick(Qt.Key_Return, Qt.ShiftModifier);
            }
            compare(field.text, "line\nline\nline\nline\n");
            compare(Bench.chat.messages.count, 0);
            verify(composer.implicitHeight > low);
            for (let i = 0; i < 40; ++i)
                keyClick(Qt.Key_Return, Qt.ShiftModifier);
            verify(composer.implicitHeight <= composer.tallest + 40);
        }

        function test_what_is_typed_is_counted() {
            makeWindow({ context: 8192 });
            openModel();
            type("one two three");
            tryCompare(part("messageCost"), "text", "3 tokens to send, room for " + (8192 - 4).toLocaleString(Qt.locale("en_US"), "f", 0));
            type(" four");
            tryVerify(() => part("messageCost").text.startsWith("4 tokens to send"));
            keyClick(Qt.Key_Return);
            tryVerify(() => !part("messageCost").visible);
        }
        function test_what_is_typed_during_an_answer_is_counted_after_it() {
            makeWindow({ tokens: 4000, tokenMs: 5 });
            openModel();
            ask("go");
            tryVerify(() => Bench.chat.turn.busy);
            type("one two");
            wait(600); // longer than it rests
            compare(part("messageCost").text, "");
            verify(Bench.chat.turn.busy);
            Bench.chat.turn.stop();
            tryVerify(() => part("messageCost").text.startsWith("2 tokens to send"));
            part("composerField").text = "";
            tryVerify(() => !part("messageCost").visible);
        }
        function test_another_conversation_has_its_own_count() {
            makeWindow();
            openModel();
            type("one two three");
            tryVerify(() => part("messageCost").text.startsWith("3 tokens to send"));
            const first = Bench.chat.conversationId;
            Bench.chat.newConversation();
            tryVerify(() => part("messageCost").text === "");
            Bench.chat.open(first);
            tryVerify(() => part("messageCost").text.startsWith("3 tokens to send"));
        }
        function test_the_numbers_are_there_without_a_template() {
            makeWindow({ template: false, context: 512 });
            openModel();
            tryVerify(() => part("contextMeter").visible && part("ttft").visible && part("tps").visible);
            tryCompare(part("contextText"), "text", "0 / 512");
            type("one two");
            tryCompare(part("messageCost"), "text", "2 tokens to send, room for 512");
            compare(part("composerField").placeholderText, "The beginning of a text");
            keyClick(Qt.Key_Return);
            tryVerify(() => Bench.chat.messages.count === 2 && !Bench.chat.turn.busy);
            compare(part("composerField").placeholderText, "A new text; what is above is not read");
            Bench.chat.newConversation();
            tryCompare(part("composerField"), "placeholderText", "The beginning of a text");
        }

        function test_nothing_to_say() {
            makeWindow();
            openModel();
            verify(!part("sendButton").enabled);
            ask("   ");
            compare(Bench.requestCount(), 0);
            verify(!part("sendButton").enabled);
            type("x");
            verify(part("sendButton").enabled);
        }

        function test_refusal_keeps_the_text_and_says_why() {
            makeWindow();
            click(part("composerField"));
            ask("hello");
            compare(part("composerField").text, "hello");
            verify(part("refusal").visible);
            verify(part("refusal").text !== "");
            Bench.openAtOnce("/models/tiny.gguf");
            tryVerify(() => Bench.chat.turn.canSend);
            verify(!part("refusal").visible);
            tryCompare(part("composerField"), "activeFocus", true);
            keyClick(Qt.Key_Return);
            tryCompare(Bench.chat.messages, "count", 2);
        }

        function test_one_may_type_while_it_answers() {
            makeWindow({ tokens: 2000, tokenMs: 5 });
            openModel();
            ask("first");
            ask("second");
            compare(part("composerField").text, "second");
            verify(part("refusal").visible);
            click(part("sendButton")); // is Stop now
            tryVerify(() => !Bench.chat.turn.busy, 3000);
            compare(part("composerField").text, "second");
            compare(Bench.requestCount(), 1);
        }

        function test_button_sends() {
            makeWindow();
            openModel();
            type("hello");
            click(part("sendButton"));
            tryCompare(Bench.chat.messages, "count", 2);
        }

        function test_new_conversation() {
            makeWindow();
            openModel();
            keyClick(Qt.Key_N, Qt.ControlModifier);
            ask("hello");
            tryVerify(() => !Bench.chat.turn.busy);
            keyClick(Qt.Key_N, Qt.ControlModifier);
            tryCompare(Bench.chat.messages, "count", 0);
        }

        function test_markup_is_pasted_as_text() {
            makeWindow();
            openModel();
            part("composerField").insert(0, "<b>x</b>");
            keyClick(Qt.Key_Return);
            tryCompare(Bench.chat.messages, "count", 2);
            tryVerify(() => !Bench.chat.turn.busy);
            compare(Bench.lastPrompt(), "<b>x</b>");
        }

        // ---- the draft ----

        function test_the_draft_belongs_to_the_conversation() {
            makeWindow();
            openModel();
            ask("hello");
            tryVerify(() => !Bench.chat.turn.busy);
            const first = Bench.chat.conversationId;
            type("half a thought");
            compare(Bench.chat.draft, "half a thought");
            Bench.chat.newConversation();
            compare(part("composerField").text, "");
            type("other");
            Bench.chat.open(first);
            compare(part("composerField").text, "half a thought");
            keyClick(Qt.Key_Return);
            tryVerify(() => !Bench.chat.turn.busy);
            compare(Bench.chat.draft, "");
        }

        function test_a_deleted_draft_leaves_no_conversation() {
            makeWindow();
            openModel();
            type("half a thought");
            tryCompare(Bench.conversations.list, "count", 1);
            keyClick(Qt.Key_A, Qt.ControlModifier);
            keyClick(Qt.Key_Delete);
            tryCompare(Bench.conversations.list, "count", 0);
            verify(part("composerField").activeFocus);
            keyClick(Qt.Key_Z, Qt.ControlModifier);
            compare(part("composerField").text, "half a thought");
            tryCompare(Bench.conversations.list, "count", 1);
        }

        function test_what_was_sent_is_not_undone() {
            makeWindow();
            openModel();
            ask("hello");
            tryVerify(() => !Bench.chat.turn.busy);
            keyClick(Qt.Key_Z, Qt.ControlModifier);
            compare(part("composerField").text, "");
            type("half");
            keyClick(Qt.Key_Z, Qt.ControlModifier);
            compare(part("composerField").text, "");
            Bench.conversations.remove(Bench.chat.conversationId);
            tryCompare(Bench.conversations.list, "count", 0);
            keyClick(Qt.Key_Z, Qt.ControlModifier); // nothing to undo in the field: it means the conversation
            tryCompare(Bench.conversations.list, "count", 1);
        }

        function test_what_is_typed_beside_the_field_goes_into_it() {
            makeWindow();
            openModel();
            ask("hello");
            tryVerify(() => !Bench.chat.turn.busy && footer() && footer().visible);
            click(messagePart("copyButton"));
            verify(!part("composerField").activeFocus);
            type("what");
            keyClick(Qt.Key_Space);
            type("is");
            compare(part("composerField").text, "what is");
            verify(part("composerField").activeFocus);
        }

        function test_it_grows_to_a_third_of_the_window() {
            makeWindow();
            openModel();
            part("composerField").insert(0, "line\n".repeat(200));
            tryVerify(() => part("composer").implicitHeight < root.height / 2);
            verify(part("composer").implicitHeight > root.height / 4);
        }

        // ---- files ----

        function test_up_in_an_empty_field_edits_the_last_prompt() {
            makeWindow();
            openModel();
            keyClick(Qt.Key_Up); // nothing was said yet
            ask("first");
            tryVerify(() => !Bench.chat.turn.busy);
            type("x");
            keyClick(Qt.Key_Up); // moves the cursor
            verify(!messagePart("editField", 0));
            keyClick(Qt.Key_Backspace);
            keyClick(Qt.Key_Up);
            tryVerify(() => messagePart("editField", 0) && messagePart("editField", 0).activeFocus);
            compare(messagePart("editField", 0).text, "first");
            keyClick(Qt.Key_Escape);
            tryCompare(part("composerField"), "activeFocus", true);
        }
    }
}
