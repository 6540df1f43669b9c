// Tests that conversations are searched and found in their column.
import QtQuick
import QtTest
import Spillway.App
import Spillway.Tests
import ".."

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

        // Texts in Chinese have no index. No test can type them, so they are pasted.
        function lookFor(words) {
            Bench.copy(words);
            keyClick(Qt.Key_A, Qt.ControlModifier);
            keyClick(Qt.Key_V, Qt.ControlModifier);
        }

        function test_a_search_that_takes_long_shows_a_sign() {
            make([{ title: "A", text: "机器学习" }]);
            const sign = part("searchSign"), nothing = part("nothingFound");
            column.inner.focusSearch();
            lookFor("机器");
            tryCompare(part("searchList"), "count", 2);
            verify(!sign.visible); // it had come to its end before
            ConversationsBench.holdSearches(true);
            lookFor("内存");
            tryCompare(sign, "visible", true);
            verify(!nothing.visible);
            lookFor("内"); // one types on
            wait(200);
            verify(sign.visible);
            verify(!nothing.visible);
            keyClick(Qt.Key_Return); // opens nothing that was found for other words
            compare(ConversationsBench.opened.join(), "");
            ConversationsBench.holdSearches(false);
            tryCompare(nothing, "visible", true);
            verify(!sign.visible);
        }

        function test_esc_ends_a_search_that_takes_long() {
            make([{ title: "A", text: "机器学习" }]);
            ConversationsBench.holdSearches(true);
            column.inner.focusSearch();
            lookFor("机器");
            tryCompare(part("searchSign"), "visible", true);
            verify(list().visible); // nothing is there to take its place
            keyClick(Qt.Key_Escape);
            verify(!part("searchSign").visible);
            verify(list().visible);
        }

        function test_enter_soon_after_the_last_letter() {
            three();
            column.inner.focusSearch();
            type("zebra");
            tryCompare(part("searchList"), "count", 2);
            keyClick(Qt.Key_A, Qt.ControlModifier);
            type("gamma");
            keyClick(Qt.Key_Return);
            compare(ConversationsBench.opened.join(), "2");
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
