// Tests the window's columns and the ways between its pages.
import QtQuick
import QtTest
import Spillway.App
import Spillway.Tests
import Spillway.Ui
import ".."

Item {
    width: 1180
    height: 780

    WindowCase {
        name: "Shell"

        function test_pages() {
            makeWindow();
            for (const name of ["Models", "Settings", "Log", "About"]) {
                click(part("nav" + name));
                compare(shell.page, PageName[name]);
                verify(!part("chatPage").visible);
                keyClick(Qt.Key_Escape);
                compare(shell.page, PageName.Conversation);
                verify(part("chatPage").visible);
            }
            click(part("navLog"));
            tryVerify(() => findChild(part("logPage"), "pageBack").activeFocus);
            keyClick(Qt.Key_Space);
            compare(shell.page, PageName.Conversation);
        }

        function test_sidebar_is_kept() {
            makeWindow();
            verify(part("sidePanel").visible);
            const left = part("chatPage").mapToItem(shell, 0, 0).x;
            compare(left, part("sidePanel").width);
            keyClick(Qt.Key_B, Qt.ControlModifier);
            verify(!part("sidePanel").visible);
            compare(Bench.settings.sidebarShown.value, 0);
            compare(part("chatPage").mapToItem(shell, 0, 0).x, 0);
            click(part("sidebarButton"));
            compare(Bench.settings.sidebarShown.value, 1);
        }

        function test_narrow_window() {
            parent.width = 700;
            makeWindow();
            verify(!part("sidePanel").visible);
            compare(part("chatPage").width, 700);
            keyClick(Qt.Key_B, Qt.ControlModifier);
            verify(part("sidePanel").visible);
            compare(part("chatPage").width, 700); // over the page, which stays as it is
            keyClick(Qt.Key_Escape);
            verify(!part("sidePanel").visible);
            keyClick(Qt.Key_B, Qt.ControlModifier);
            click(part("navSettings"));
            verify(!part("sidePanel").visible); // chosen: out of the way
            compare(shell.page, PageName.Settings);
            keyClick(Qt.Key_Escape);
            keyClick(Qt.Key_B, Qt.ControlModifier);
            click(part("columnNew"));
            tryVerify(() => !part("sidePanel").visible);
            tryCompare(part("composerField"), "activeFocus", Bench.models.current.known);
            openModel();
            ask("something");
            tryVerify(() => !Bench.chat.turn.busy);
            keyClick(Qt.Key_B, Qt.ControlModifier);
            tryVerify(() => part("sidePanel").activeFocus); // and not what it lies over
            keyClick(Qt.Key_B, Qt.ControlModifier);
            tryVerify(() => part("composerField").activeFocus);
            parent.width = 1180;
        }

        // Hidden with the keyboard in it, a column gives that back.
        function test_the_keyboard_leaves_with_its_column_data() {
            return [{ tag: "conversations over the page", width: 700, column: "sidePanel", inside: "navLog", key: Qt.Key_B, modifiers: Qt.ControlModifier },
                    { tag: "conversations", width: 1180, column: "sidePanel", inside: "navLog", key: Qt.Key_B, modifiers: Qt.ControlModifier },
                    { tag: "panel", width: 1180, column: "pressurePanel", inside: "panelMenuButton", key: Qt.Key_M, modifiers: Qt.ControlModifier | Qt.ShiftModifier }];
        }
        function test_the_keyboard_leaves_with_its_column(data) {
            parent.width = data.width;
            makeWindow();
            openModel();
            if (!part(data.column).visible)
                keyClick(data.key, data.modifiers);
            verify(part(data.column).visible);
            part(data.inside).forceActiveFocus(Qt.TabFocusReason);
            verify(part(data.column).activeFocus);
            keyClick(data.key, data.modifiers);
            verify(!part(data.column).visible);
            tryVerify(() => part("composerField").activeFocus);
            type("here");
            compare(part("composerField").text, "here");
            parent.width = 1180;
        }

        function test_notices() {
            makeWindow();
            compare(part("notices").height, 0);
            Bench.say("Something happened.");
            tryVerify(() => findChild(shell, "programNotice"));
            compare(part("programNotice").sentence, "Something happened.");
            verify(part("chatPage").mapToItem(shell, 0, 0).y >= part("notices").mapToItem(shell, 0, part("notices").height).y);
            click(findChild(part("programNotice"), "noticeDismiss"));
            tryCompare(part("notices"), "height", 0);
        }

        function test_conversations_in_the_column() {
            makeWindow();
            openModel();
            ask("first words");
            tryVerify(() => !Bench.chat.turn.busy);
            const first = Bench.chat.conversationId;
            keyClick(Qt.Key_N, Qt.ControlModifier);
            ask("other words");
            tryVerify(() => !Bench.chat.turn.busy);
            tryCompare(Bench.conversations.list, "count", 2);
            keyClick(Qt.Key_K, Qt.ControlModifier);
            tryVerify(() => Bench.focusName(shell) === "searchField" || part("searchField").activeFocus);
            type("first");
            tryVerify(() => Bench.conversations.searching);
            keyClick(Qt.Key_Return);
            tryCompare(Bench.chat, "conversationId", first);
            compare(shell.page, PageName.Conversation);
        }

        function test_guide() {
            makeWindow();
            click(part("openGuide"));
            tryVerify(() => Bench.models.current.name === "guide");
        }
    }
}
