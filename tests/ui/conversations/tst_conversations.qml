// Tests what the column of conversations shows in each of its states, and how its rows follow what happens elsewhere.
import QtQuick
import QtTest
import Spillway.App
import Spillway.Tests
import Spillway.Ui.Theme
import ".."

Item {
    width: 264
    height: 640

    ConversationsCase {
        name: "Conversations"

        function test_empty() {
            make();
            tryCompare(part("nothingYet"), "visible", true);
            verify(!part("searchField").visible);
            mouseClick(part("columnNew"));
            compare(ConversationsBench.news, 1);
        }

        function test_the_list_has_the_room() {
            three();
            verify(list().height > column.height - 130);
            ConversationsBench.controller.remove("0");
            tryCompare(part("undoNotice"), "visible", true);
            const foot = part("undoNotice");
            tryVerify(() => foot.mapToItem(column, 0, foot.height).y <= column.height);
            tryVerify(() => list().mapToItem(column, 0, list().height).y <= foot.mapToItem(column, 0, 0).y);
        }

        function test_activity_is_shown_and_said() {
            three();
            verify(!findChild(row(1), "activityMark").visible);
            ConversationsBench.setActivity("1", ConversationActivity.Answering);
            ConversationsBench.setActivity("2", ConversationActivity.Queued);
            tryCompare(findChild(row(1), "activityMark"), "visible", true);
            verify(row(1).Accessible.name.indexOf("answered") >= 0);
            verify(row(2).Accessible.name.indexOf("waiting") >= 0);
            ConversationsBench.setActivity("1", ConversationActivity.Idle);
            tryCompare(findChild(row(1), "activityMark"), "visible", false);
        }

        function test_a_turn_moves_it_up() {
            three();
            focusList();
            keyClick(Qt.Key_End);
            ConversationsBench.turn("2");
            compare(titles(), "Gamma Alpha Beta");
            tryCompare(list(), "currentIndex", 0); // the keyboard stays with it
        }

        function test_an_import_begins_among_the_documents_and_then_where_it_was() {
            make();
            const dialog = findChild(column, "importDialog");
            dialog.begin();
            tryCompare(dialog, "visible", true);
            compare(dialog.currentFolder, ConversationsBench.controller.suggestedFolder());
            dialog.currentFolder = "file:///";
            dialog.close();
            tryCompare(dialog, "visible", false);
            dialog.begin();
            compare(dialog.currentFolder.toString(), "file:///");
            dialog.close();
            tryCompare(dialog, "visible", false);
        }

        function test_good_news_is_read_to_its_end() {
            make();
            ConversationsBench.controller.import([Qt.resolvedUrl("../../data/imports/chatgpt.json")]);
            tryCompare(part("sentenceNotice"), "visible", true);
            verify(!part("sentenceNotice").error);
            const words = findChild(part("sentenceNotice"), "columnNoticeSentence");
            tryVerify(() => words.lineCount > 2); // once it has its width
            verify(!words.truncated);
        }

        function test_failures_are_said() {
            three();
            ConversationsBench.controller.import([ConversationsBench.file("missing.json")]);
            tryCompare(part("sentenceNotice"), "visible", true);
            verify(part("sentenceNotice").Accessible.name.indexOf("missing.json") >= 0);
            wait(50);
            mouseClick(findChild(part("sentenceNotice"), "columnNoticeDismiss"));
            tryCompare(part("sentenceNotice"), "visible", false);
        }

        function test_export_and_import() {
            three();
            ConversationsBench.controller.exportTo("0", ConversationsController.Markdown, ConversationsBench.file("a.md"));
            tryCompare(ConversationsBench.controller, "busy", false);
            tryCompare(part("sentenceNotice"), "visible", true);
            ConversationsBench.controller.import([ConversationsBench.file("a.md")]);
            verify(part("importNotice").visible);
            verify(!findChild(part("importNotice"), "columnNoticeDismiss").visible);
            tryCompare(ConversationsBench.controller.list, "count", 4);
            tryCompare(part("importNotice"), "visible", false);
        }

        function test_folders_by_keys() {
            make([{ title: "Alpha" }, { title: "Beta", folder: "Bees" }, { title: "Gamma", folder: "Bees" }]);
            compare(titles(), "Bees Beta Gamma Alpha");
            focusList();
            keyClick(Qt.Key_Home);
            keyClick(Qt.Key_Right); // is open
            keyClick(Qt.Key_Down);
            keyClick(Qt.Key_Down);
            keyClick(Qt.Key_Left);
            compare(list().currentIndex, 0);
            compare(titles(), "Bees Beta Gamma Alpha");
            keyClick(Qt.Key_Left);
            compare(titles(), "Bees Alpha");
            verify(row(0).keyboardHere);
            keyClick(Qt.Key_Return);
            compare(titles(), "Bees Beta Gamma Alpha");
            compare(ConversationsBench.opened.length, 0);

            keyClick(Qt.Key_F2);
            tryVerify(() => findChild(row(0), "renameField"));
            tryCompare(findChild(row(0), "renameField"), "activeFocus", true);
            type("wasps");
            keyClick(Qt.Key_Return);
            tryCompare(row(0), "title", "wasps");
            tryVerify(() => list().activeFocus);
            compare(titles(), "wasps Beta Gamma Alpha");
            keyClick(Qt.Key_Home);
            keyClick(Qt.Key_Delete);
            compare(titles(), "Alpha Beta Gamma");
            tryCompare(part("undoNotice"), "visible", true);
            compare(part("undoNotice").subject, "wasps");
            keyClick(Qt.Key_Z, Qt.ControlModifier);
            compare(titles(), "wasps Beta Gamma Alpha");
        }

        function test_a_heading_has_its_room_where_the_list_was_laid_out_unseen() {
            makeUnseen([{ title: "Alpha" }, { title: "Beta", folder: "Bees" }]);
            compare(titles(), "Bees Beta Alpha");
            const [above, below] = [row(1), row(2)];
            verify(below.y - above.y - above.height > Theme.sizeSmall);
        }

        function headings() {
            list().forceLayout();
            return Array.from(list().contentItem.children)
                .filter(item => item.objectName === "dayHeading" && item.visible && item.height > 0)
                .sort((a, b) => a.y - b.y).map(item => item.text).join(", ");
        }

        function test_a_heading_that_is_used_again_says_what_it_is() {
            make([{ title: "Alpha" }, { title: "Beta", daysAgo: 400 }]);
            tryVerify(() => headings().startsWith("Today, "));
            const month = headings().slice("Today, ".length);
            ConversationsBench.controller.remove("0"); // and its heading waits for another
            tryVerify(() => headings() === month);
            ConversationsBench.controller.import([Qt.resolvedUrl("../../data/imports/lm-studio.conversation.json")]);
            tryVerify(() => list().count === 2);
            tryVerify(() => headings() === "Pinned, " + month, 2000);
            ConversationsBench.turn("1");
            tryVerify(() => headings() === "Pinned, Today", 2000);
        }

        function test_a_menu_is_as_wide_as_its_words() {
            three();
            mouseClick(part("columnMore"));
            const menu = findChild(column, "columnMenu");
            tryCompare(menu, "opened", true);
            const item = menu.itemAt(menu.count - 1);
            item.text = "All as Markdown, in one folder…";
            tryVerify(() => item.implicitWidth > item.width);
            menu.close();
            tryCompare(menu, "visible", false);
            mouseClick(part("columnMore"));
            tryCompare(menu, "opened", true);
            verify(item.width >= item.implicitWidth, item.width + " of " + item.implicitWidth);
            menu.close();
        }

        function test_folders_by_mouse() {
            make([{ title: "Alpha" }, { title: "Beta" }]);
            mouseClick(row(1), 40, 10, Qt.RightButton);
            const menu = findChild(list(), "conversationMenu") || list().contextMenu;
            tryCompare(menu, "opened", true);
            wait(50);
            mouseClick(findChild(menu.contentItem, "moveItem"));
            const choice = findChild(list(), "folderChoice");
            tryCompare(choice, "opened", true);
            compare(choice.count, 2);
            wait(50);
            mouseClick(findChild(choice.contentItem, "newFolderItem"));
            compare(titles(), "New folder Beta Alpha");
            tryVerify(() => findChild(row(0), "renameField").activeFocus);
            type("bees");
            keyClick(Qt.Key_Return);
            tryCompare(row(0), "title", "bees");
            compare(list().currentIndex, 0); // the keyboard stays with it
            verify(row(0).Accessible.name.indexOf("open folder of 1 conversation") > 0, row(0).Accessible.name);

            mouseClick(row(2), 40, 10, Qt.RightButton);
            tryCompare(menu, "opened", true);
            wait(50);
            mouseClick(findChild(menu.contentItem, "moveItem"));
            tryCompare(choice, "opened", true);
            compare(choice.count, 3);
            wait(50);
            mouseClick(choice.itemAt(2));
            compare(titles(), "bees Alpha Beta");
            mouseClick(row(0));
            compare(titles(), "bees");
            mouseClick(row(0));
            compare(titles(), "bees Alpha Beta");

            mouseClick(row(1), 40, 10, Qt.RightButton);
            tryCompare(menu, "opened", true);
            wait(50);
            mouseClick(findChild(menu.contentItem, "moveItem"));
            tryCompare(choice, "opened", true);
            wait(50);
            mouseClick(findChild(choice.contentItem, "noFolderItem"));
            compare(titles(), "bees Beta Alpha");
        }

        function test_an_import_is_cancelled() {
            three();
            ConversationsBench.controller.exportAll(ConversationsController.Json, ConversationsBench.file("all.json"));
            tryCompare(ConversationsBench.controller, "busy", false);
            const files = [];
            for (let i = 0; i < 200; ++i)
                files.push(ConversationsBench.file("all.json"));
            ConversationsBench.controller.import(files);
            wait(0);
            mouseClick(findChild(part("importNotice"), "columnNoticeAction"));
            tryCompare(part("importNotice"), "visible", false);
            verify(part("sentenceNotice").Accessible.name.indexOf("cancelled") >= 0);
        }

        function test_everything_has_a_name() {
            three();
            compare(Bench.namelessControls(column).join(), "");
            const controls = Bench.controls(column).join("\n");
            for (const name of ["Button: New conversation", "Button: Import and export",
                                "EditableText: Search conversations", "List: Conversations"])
                verify(controls.indexOf(name) >= 0, name + " is not among\n" + controls);
        }

        function test_five_thousand() {
            const many = [];
            for (let i = 0; i < 5000; ++i)
                many.push({ title: "Conversation " + i, daysAgo: Math.floor(i / 10), bare: true });
            make(many);
            const start = Date.now();
            list().positionViewAtEnd();
            waitForRendering(list());
            list().positionViewAtBeginning();
            waitForRendering(list());
            verify(Date.now() - start < 5000);
            ConversationsBench.turn("4999");
            compare(row(0).title, "Conversation 4999");
        }

        function test_hard_titles_keep_their_place() {
            make([{ title: "A very long title that goes on and on, far beyond the edge of the column and further" },
                  { title: "שלום עולם, שיחה ארוכה מאוד על הזיכרון של המודל" }, { title: "👩‍👩‍👧‍👦 🏳️‍🌈 emoji 👍🏽" }, { title: "" },
                  { title: "   " }, { title: "<b>bold</b> & <img src=x>" }]);
            for (let i = 0; i < 6; ++i) {
                const title = findChild(row(i), "rowTitle");
                verify(title.mapToItem(column, title.width, 0).x <= column.width - 8);
                compare(row(i).height, Theme.px(36));
            }
            compare(findChild(row(5), "rowTitle").text, "<b>bold</b> & <img src=x>");
            compare(findChild(row(3), "rowTitle").text, "New conversation");
        }
    }
}
