// Tests that the column of conversations shows what is said in the window, and that the window shows the conversation
// that is chosen there.
import QtQuick
import QtTest
import Spillway.App
import Spillway.Tests
import ".."

Item {
    width: 1024
    height: 640

    WindowCase {
        name: "Sidebar"

        function list() { return part("conversationList"); }
        function row(index) {
            tryVerify(() => list().itemAtIndex(index));
            return list().itemAtIndex(index);
        }
        function say(text) {
            ask(text);
            tryVerify(() => Bench.chat.turn.busy || Bench.chat.messages.count > 0);
            tryVerify(() => !Bench.chat.turn.busy);
        }
        function two() {
            makeWindow({ text: "zebras graze" });
            openModel();
            say("first question");
            keyClick(Qt.Key_N, Qt.ControlModifier);
            tryCompare(Bench.chat.messages, "count", 0);
            say("second question");
            tryCompare(Bench.conversations.list, "count", 2);
        }

        function test_what_is_said_is_listed() {
            two();
            compare(row(0).title, "second question");
            tryVerify(() => row(0).current);
            click(row(1));
            tryCompare(Bench.chat.messages, "count", 2);
            tryVerify(() => row(1).current);
            verify(lastText().indexOf("zebras") >= 0);
            verify(list().activeFocus); // its keys are the row's
            keyClick("h");
            tryCompare(part("composerField"), "activeFocus", true);
            keyClick("i");
            compare(part("composerField").text, "hi");
        }

        function test_del_after_a_click() {
            two();
            click(row(1));
            keyClick(Qt.Key_Delete);
            tryCompare(Bench.conversations.list, "count", 1);
            compare(row(0).title, "second question");
        }

        function test_del_that_is_held_deletes_one() {
            makeWindow({ text: "yes" });
            openModel();
            for (const question of ["first", "second", "third"]) {
                say(question);
                keyClick(Qt.Key_N, Qt.ControlModifier);
            }
            tryCompare(Bench.conversations.list, "count", 3);
            click(row(1));
            Bench.holdKey(shell, Qt.Key_Delete);
            compare(Bench.conversations.list.count, 2);
        }

        // In a narrow window the column goes with the click, and comes back with the way to undo it.
        function test_del_after_a_click_in_a_narrow_window() {
            two();
            parent.width = 700;
            tryCompare(part("sidePanel"), "visible", false);
            const choose = () => {
                keyClick(Qt.Key_B, Qt.ControlModifier);
                click(row(1));
                tryCompare(part("sidePanel"), "visible", false);
                tryCompare(part("composerField"), "activeFocus", true);
            };
            choose();
            type("a"); // something else is done
            keyClick(Qt.Key_Home);
            keyClick(Qt.Key_Delete);
            compare(part("composerField").text, "");
            keyClick(Qt.Key_Delete);
            compare(Bench.conversations.list.count, 2);
            choose();
            const first = Bench.chat.conversationId;
            keyClick(Qt.Key_Delete);
            tryCompare(Bench.conversations.list, "count", 1);
            verify(Bench.chat.conversationId !== first);
            tryCompare(part("undoNotice"), "visible", true);
            verify(part("sidePanel").visible);
            keyClick(Qt.Key_Z, Qt.ControlModifier);
            tryCompare(Bench.chat, "conversationId", first);
            parent.width = 1024;
        }

        function test_search_leads_to_the_message() {
            two();
            keyClick(Qt.Key_K, Qt.ControlModifier);
            tryCompare(part("searchField"), "activeFocus", true);
            type("first");
            tryVerify(() => part("searchList").count > 0);
            keyClick(Qt.Key_Return);
            tryVerify(() => row(1).current);
            tryCompare(part("composerField"), "activeFocus", true);
        }

        function test_search_leads_to_a_version_that_is_not_shown() {
            makeWindow({ text: "zebras graze" });
            openModel();
            say("first question");
            Bench.script({ tokens: 300 });
            keyClick(Qt.Key_R, Qt.ControlModifier);
            tryVerify(() => !Bench.chat.turn.busy && lastText().startsWith("word"));
            say("more of it");
            keyClick(Qt.Key_N, Qt.ControlModifier);
            keyClick(Qt.Key_K, Qt.ControlModifier);
            type("zebras");
            tryVerify(() => part("searchList").count > 0);
            keyClick(Qt.Key_Return);
            tryVerify(() => lastText() === "zebras graze");
            compare(Bench.chat.messages.count, 2);
            verify(messagePart("foundMark").visible);
            tryVerify(() => !messagePart("foundMark").visible);

            part("searchField").clear(); // and by mouse, to the beginning of a message above the end
            keyClick(Qt.Key_K, Qt.ControlModifier);
            type("more of");
            tryVerify(() => part("searchList").count > 0 && part("searchList").itemAtIndex(0));
            click(part("searchList").itemAtIndex(0));
            tryCompare(Bench.chat.messages, "count", 4);
            tryVerify(() => message(2) && messagePart("foundMark", 2).visible);
            const view = part("messageView");
            const top = message(2).mapToItem(view, 0, 0).y;
            verify(top >= 0 && top < view.height / 2, top);
        }

        function test_search_leads_deep_into_an_answer() {
            const hay = "hay\n\n```\nhay\n```\n\n".repeat(90); // most of it waits until it is asked for
            makeWindow({ text: hay + "the needle\n\n" + hay });
            openModel();
            say("question");
            keyClick(Qt.Key_K, Qt.ControlModifier);
            type("needle");
            tryVerify(() => part("searchList").count > 0);
            keyClick(Qt.Key_Return);
            const view = part("messageView");
            tryVerify(() => {
                const blocks = messagePart("blocks", 1);
                for (let i = 0; blocks && i < blocks.children.length; ++i) {
                    const block = blocks.children[i], y = block.mapToItem(view, 0, 0).y;
                    if (block.content && block.content.startsWith("the needle"))
                        return block.height > 0 && y > 0 && y + block.height < view.height;
                }
                return false;
            });
        }

        function test_delete_the_shown_one_and_take_it_back() {
            two();
            list().forceActiveFocus(Qt.TabFocusReason);
            keyClick(Qt.Key_Home);
            keyClick(Qt.Key_Delete);
            tryCompare(Bench.conversations.list, "count", 1);
            compare(Bench.chat.messages.count, 0);
            keyClick(Qt.Key_Z, Qt.ControlModifier);
            tryCompare(Bench.conversations.list, "count", 2);
            tryCompare(Bench.chat.messages, "count", 2);
            tryVerify(() => row(0).current);
        }

        function test_del_in_a_message_deletes_letters() {
            two();
            type("ab");
            keyClick(Qt.Key_Home);
            keyClick(Qt.Key_Delete);
            compare(part("composerField").text, "b");
            compare(Bench.conversations.list.count, 2);
        }

        function test_rename_by_key_from_anywhere() {
            two();
            keyClick(Qt.Key_F2);
            tryVerify(() => findChild(row(0), "renameField").activeFocus);
            type("named");
            keyClick(Qt.Key_Return);
            tryCompare(Bench.chat, "title", "named");
        }

        function test_a_click_into_the_message_keeps_a_new_title() {
            two();
            keyClick(Qt.Key_F2);
            tryVerify(() => findChild(row(0), "renameField").activeFocus);
            type("named");
            click(part("composerField"));
            tryCompare(Bench.chat, "title", "named");
            tryCompare(part("composerField"), "activeFocus", true);
            type("hi");
            compare(part("composerField").text, "hi");
        }

        // The words of the search stay, and so do its hits: the list below them is hidden.
        function test_a_search_in_a_narrow_window_has_the_keyboard() {
            two();
            parent.width = 700;
            keyClick(Qt.Key_K, Qt.ControlModifier);
            tryCompare(part("searchField"), "activeFocus", true);
            type("first");
            tryVerify(() => part("searchList").count > 0);
            keyClick(Qt.Key_Return);
            tryCompare(part("sidePanel"), "visible", false);
            keyClick(Qt.Key_B, Qt.ControlModifier);
            tryCompare(part("searchList"), "activeFocus", true);
            keyClick(Qt.Key_Delete);
            compare(Bench.conversations.list.count, 2);
            parent.width = 1024;
        }

        function test_the_one_being_answered_is_marked() {
            makeWindow({ tokens: 400, tokenMs: 20 });
            openModel();
            ask("long one");
            tryCompare(Bench.conversations.list, "count", 1);
            tryCompare(row(0), "activity", ConversationActivity.Answering);
            keyClick(Qt.Key_N, Qt.ControlModifier);
            compare(row(0).activity, ConversationActivity.Answering); // also while another is shown
            click(row(0));
            keyClick(Qt.Key_Escape);
            tryCompare(row(0), "activity", ConversationActivity.Idle);
        }
    }
}
