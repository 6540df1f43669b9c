// Tests that conversations are searched and found in their column.
import QtQuick
import QtTest
import Spillway.App
import Spillway.Tests

Item {
    width: 264
    height: 640

    ConversationsCase {
        name: "Search"

        function test_search() {
            three();
            column.inner.focusSearch();
            verify(part("searchField").activeFocus);
            type("zebra");
            const found = part("searchList");
            tryCompare(found, "count", 2);
            verify(found.visible);
            verify(!list().visible);
            verify(!part("nothingFound").visible);
            keyClick(Qt.Key_Down);
            verify(found.activeFocus);
            keyClick(Qt.Key_Down);
            keyClick(Qt.Key_Return);
            compare(ConversationsBench.opened.join(), "0");
            verify(ConversationsBench.message !== "");
            keyClick(Qt.Key_Up);
            keyClick(Qt.Key_Up);
            verify(part("searchField").activeFocus);
            keyClick(Qt.Key_Escape);
            compare(part("searchField").text, "");
            tryCompare(list(), "visible", true);
            keyClick(Qt.Key_Escape);
            compare(column.inner.leaves, 1);
        }

        function test_nothing_found() {
            three();
            column.inner.focusSearch();
            type("unicorns");
            tryCompare(part("nothingFound"), "visible", true);
            mouseClick(findChild(part("searchField"), "clearSearch"));
            tryCompare(part("nothingFound"), "visible", false);
            verify(part("searchField").activeFocus);
        }

        function test_enter_opens_the_first_hit() {
            three();
            column.inner.focusSearch();
            type("gamma");
            tryCompare(part("searchList"), "count", 1);
            keyClick(Qt.Key_Return);
            compare(ConversationsBench.opened.join(), "2");
        }
    }
}
