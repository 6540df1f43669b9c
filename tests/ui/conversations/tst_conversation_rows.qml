// Tests what one does with a row of the column of conversations, by mouse and by keyboard.
import QtQuick
import QtTest
import Spillway.Tests
import ".."

Item {
    width: 264
    height: 640

    ConversationsCase {
        name: "ConversationRows"

        function test_a_click_opens() {
            three();
            mouseClick(row(1));
            compare(ConversationsBench.opened.join(), "1");
            compare(column.inner.choices, 1);
            verify(row(1).current);
            verify(!row(0).current);
        }

        // As on a screen that is touched, or with a quick hand: the row has never seen the pointer before.
        function test_a_click_out_of_nowhere_opens_data() {
            return [12, 30, 50, 80, 150].map(x => ({ tag: x + " px", x: x }));
        }
        function test_a_click_out_of_nowhere_opens(data) {
            three();
            const rows = [row(0), row(1), row(2)];
            for (const row of rows) {
                mouseMove(row, data.x, row.height / 2);
                mouseClick(row, data.x, row.height / 2);
            }
            compare(ConversationsBench.opened.join(), "0,1,2");
            compare(titles(), "Alpha Beta Gamma");
            verify(!rows.some(row => row.menuOpen));
        }

        function test_keys_after_a_click_are_the_rows() {
            three();
            mouseClick(row(1));
            verify(list().activeFocus);
            keyClick(Qt.Key_Delete);
            compare(titles(), "Alpha Gamma");
            mouseClick(row(1));
            keyClick("a");
            keyClick("l", Qt.ControlModifier);
            keyClick(Qt.Key_Escape);
            compare(column.inner.letters, "a"); // letters are the message's
            keyClick(Qt.Key_F2);
            tryVerify(() => findChild(row(1), "renameField"));
        }

        function test_keys() {
            three();
            focusList();
            compare(list().currentIndex, 0);
            keyClick(Qt.Key_Down);
            compare(list().currentIndex, 1);
            keyClick(Qt.Key_End);
            compare(list().currentIndex, 2);
            keyClick(Qt.Key_Down);
            compare(list().currentIndex, 2);
            keyClick(Qt.Key_Return);
            compare(ConversationsBench.opened.join(), "2");
            keyClick(Qt.Key_Home);
            compare(list().currentIndex, 0);
            verify(row(0).keyboardHere);
        }

        function test_rename_in_place() {
            three();
            focusList();
            keyClick(Qt.Key_Down);
            keyClick(Qt.Key_F2);
            tryVerify(() => findChild(row(1), "renameField"));
            tryCompare(findChild(row(1), "renameField"), "activeFocus", true);
            compare(findChild(row(1), "renameField").selectedText, "Beta");
            type("better");
            keyClick(Qt.Key_Return);
            tryCompare(row(1), "title", "better");
            compare(ConversationsBench.title("1"), "better");
            compare(ConversationsBench.opened.length, 0); // Return was the field's alone
            verify(list().Window.activeFocusItem === list()); // not the hidden field
            keyClick(Qt.Key_Home);
            compare(list().currentIndex, 0);
            keyClick(Qt.Key_Down);

            keyClick(Qt.Key_F2);
            tryVerify(() => findChild(row(1), "renameField"));
            type("worse");
            keyClick(Qt.Key_Delete);
            keyClick(Qt.Key_Escape);
            wait(50);
            compare(ConversationsBench.title("1"), "better");
            compare(titles(), "Alpha better Gamma");
            verify(list().Window.activeFocusItem === list());
            keyClick(Qt.Key_Return);
            compare(ConversationsBench.opened.join(), "1");
        }

        function test_delete_and_undo_by_keys() {
            three();
            focusList();
            keyClick(Qt.Key_Delete);
            compare(titles(), "Beta Gamma");
            tryCompare(part("undoNotice"), "visible", true);
            verify(part("undoNotice").subject.indexOf("Alpha") >= 0);
            keyClick(Qt.Key_Z, Qt.ControlModifier);
            compare(titles(), "Alpha Beta Gamma");
            tryCompare(part("undoNotice"), "visible", false);
            keyClick(Qt.Key_Z, Qt.ControlModifier); // nothing to undo
            compare(titles(), "Alpha Beta Gamma");
        }

        function test_delete_and_undo_by_mouse() {
            three();
            mouseMove(row(2), 20, 10);
            tryVerify(() => findChild(row(2), "rowDelete").visible);
            wait(50);
            mouseClick(findChild(row(2), "rowMore"));
            tryVerify(() => row(2).menuOpen);
            keyClick(Qt.Key_Escape);
            tryVerify(() => !row(2).menuOpen);
            mouseMove(row(2), 22, 12);
            wait(50);
            mouseClick(findChild(row(2), "rowDelete"));
            compare(titles(), "Alpha Beta");
            compare(ConversationsBench.opened.length, 0); // the row was not opened
            tryCompare(part("undoNotice"), "visible", true);
            wait(50);
            mouseClick(findChild(part("undoNotice"), "columnNoticeAction"));
            compare(titles(), "Alpha Beta Gamma");
        }

        function test_menu() {
            three();
            mouseClick(row(1), 40, 10, Qt.RightButton);
            const menu = findChild(list(), "conversationMenu") || list().contextMenu;
            verify(menu);
            tryCompare(menu, "opened", true);
            compare(menu.conversation, "1");
            compare(ConversationsBench.opened.length, 0); // the row was not opened
            keyClick(Qt.Key_Down);
            keyClick(Qt.Key_Down);
            keyClick(Qt.Key_Return); // the second: pin
            tryCompare(menu, "visible", false);
            compare(titles(), "Beta Alpha Gamma");
            compare(row(0).pinned, true);
        }
    }
}
