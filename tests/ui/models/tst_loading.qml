// Tests what the window shows of a model that is offered, loading, failed, lost or replaced by another.
import QtQuick
import QtQuick.Controls
import QtTest
import Spillway.App
import Spillway.Tests
import Spillway.Ui
import Spillway.Ui.Theme
import ".."

Item {
    width: 1024
    height: 640

    WindowCase {
        name: "Loading"

        function test_the_dialog_opens() {
            makeWindow();
            const dialog = findChild(shell, "openDialog");
            keyClick(Qt.Key_O, Qt.ControlModifier);
            tryCompare(dialog, "visible", true);
            dialog.close();
            tryCompare(dialog, "visible", false);
            click(part("openModel"));
            tryCompare(dialog, "visible", true);
            dialog.close();
            tryCompare(dialog, "visible", false);
            compare(Bench.models.phase, ModelController.Idle);
        }

        function test_dialogs_begin_in_the_last_folder_data() {
            return [{ tag: "model", dialog: "openDialog", files: SettingsController.Models },
                    { tag: "files", dialog: "attachDialog", files: SettingsController.Attachments }];
        }
        function test_dialogs_begin_in_the_last_folder(data) {
            makeWindow();
            openModel();
            const dialog = findChild(shell, data.dialog);
            const begin = () => data.tag === "model" ? keyClick(Qt.Key_O, Qt.ControlModifier) : click(part("attachButton"));
            const there = Qt.resolvedUrl("../../data/models").toString();
            begin();
            tryCompare(dialog, "visible", true);
            verify(dialog.currentFolder.toString() !== there);
            dialog.currentFolder = there;
            const overlay = dialog.parentWindow.contentItem.Overlay.overlay;
            const list = () => seen(overlay, "fileDialogListView");
            tryVerify(() => list() && list().count > 0);
            list().forceActiveFocus();
            keyClick(Qt.Key_Down);
            keyClick(Qt.Key_Return);
            tryCompare(dialog, "visible", false);
            compare(Bench.settings.folderOf(data.files).toString(), there);
            dialog.currentFolder = "file:///";
            begin();
            tryCompare(dialog, "visible", true);
            compare(dialog.currentFolder.toString(), there);
            dialog.close();
            tryCompare(dialog, "visible", false);
        }

        function test_offer_then_load() {
            makeWindow({ loadMs: 1500 });
            Bench.models.open("file:///models/tiny.gguf");
            const card = part("modelCard");
            tryCompare(card, "visible", true);
            tryVerify(() => findChild(card, "load").enabled);
            compare(findChild(card, "cardTitle").text, "tiny");
            verify(!part("emptyState").visible);
            tryCompare(findChild(card, "load"), "activeFocus", true);

            keyClick(Qt.Key_Return);
            compare(Bench.models.bytesTotal, 0); // nobody knows yet how much there is
            compare(findChild(card, "loadText").text, "Reading the file…");
            tryVerify(() => findChild(card, "loadProgress").value > 0 && findChild(card, "loadProgress").value < 1);
            verify(!findChild(card, "load").enabled);
            tryCompare(part("readyState"), "visible", true);
            verify(!card.visible);
            compare(part("modelName").text, "tiny");
            verify(part("modelDetails").text.indexOf("Q4_K_M") > 0);
            tryCompare(part("composerField"), "activeFocus", true);
        }

        function test_the_buttons_keep_their_places() {
            const right = item => item.mapToItem(shell, item.width, 0).x;
            const left = item => item.mapToItem(shell, 0, 0).x;
            for (const width of [640, 1024]) {
                parent.width = width;
                makeWindow({ loadMs: 60000 });
                Bench.models.open("file:///models/tiny.gguf");
                const card = part("modelCard"), load = findChild(card, "load"), cancel = findChild(card, "cancelLoad");
                tryVerify(() => load.enabled);
                wait(50); // until it is laid out
                const places = [left(cancel), right(cancel), left(load), right(load)];
                compare(places[3], card.mapToItem(shell, card.width, 0).x - 24); // at the edge, and together
                compare(places[2] - places[1], 8);
                click(load);
                tryVerify(() => findChild(card, "loadText").visible);
                wait(50);
                compare([left(cancel), right(cancel), left(load), right(load)], places);
                Bench.models.cancel();
                tryCompare(Bench.models, "phase", ModelController.Idle);
                cleanup();
            }
        }

        // The smallest window at the largest text, with the longer words that the card has while something is answered.
        function test_an_offer_is_reached_in_a_small_window_data() {
            return [{ tag: "before the first word", card: "modelCard" }, { tag: "below the messages", card: "dockedModelCard" }];
        }
        function test_an_offer_is_reached_in_a_small_window(data) {
            Theme.scale = 2;
            parent.width = 640;
            parent.height = 480;
            makeWindow({ tokens: 5000, tokenMs: 5 });
            if (data.card === "dockedModelCard") {
                openModel();
                ask("hello");
                tryCompare(part("phase"), "text", "Answering");
            }
            Bench.models.open("file:///models/other.gguf");
            const card = part(data.card), load = findChild(card, "load"), cancel = findChild(card, "cancelLoad");
            load.text = "Anhalten und laden";
            let view = card;
            while (view.contentY === undefined)
                view = view.parent; // which scrolls
            const seenWhole = item => {
                const at = item.mapToItem(view, 0, 0);
                return at.x >= 0 && at.x + item.width <= view.width && at.y >= 0 && at.y + item.height <= view.height;
            };
            tryVerify(() => load.activeFocus);
            tryVerify(() => seenWhole(load) && seenWhole(cancel));
            const line = part("statusLine");
            verify(line.mapToItem(shell, 0, line.height).y <= shell.height);
            verify(load.contentItem.contentWidth <= load.availableWidth);
            click(load);
            tryVerify(() => Bench.models.current.name === "other");
            Theme.scale = 1;
            parent.width = 1024;
            parent.height = 640;
        }

        function pages() {
            return ["Models", "Settings", "Log", "About", "Experiments"].map(name => ({ tag: name, page: PageName[name] }));
        }
        function test_an_offer_is_seen_from_every_page_data() { return pages(); }
        function test_an_offer_is_seen_from_every_page(data) {
            makeWindow();
            shell.show(data.page);
            Bench.models.open("file:///models/tiny.gguf");
            tryVerify(() => findChild(part("modelCard"), "load").activeFocus);
            compare(shell.page, PageName.Conversation);
        }
        function test_an_error_is_seen_from_every_page_data() { return pages(); }
        function test_an_error_is_seen_from_every_page(data) {
            makeWindow();
            shell.show(data.page);
            Bench.models.open("file:///models/broken.gguf");
            const notice = part("modelErrorAbove");
            tryCompare(notice, "visible", true);
            compare(notice.sentence, "The file ends inside the GGUF header.");
            compare(shell.page, data.page); // the page does not change, since something may be done there
            shell.show(PageName.Conversation);
            verify(!notice.visible && part("modelError").visible); // it is said in one place only
            shell.show(data.page);
            click(findChild(notice, "noticeDismiss"));
            verify(!notice.visible);
            tryCompare(part("notices"), "height", 0);
        }

        function test_what_is_loaded_at_once_leaves_the_page() {
            makeWindow({ loadMs: 100 });
            openModel();
            shell.show(PageName.Settings);
            Bench.models.reload();
            tryCompare(Bench.models, "phase", ModelController.Loading);
            tryCompare(Bench.models, "phase", ModelController.Idle);
            compare(shell.page, PageName.Settings);
        }

        function test_escape_drops_the_offer() {
            makeWindow({ context: 4096 });
            Bench.models.open("file:///models/tiny.gguf");
            tryCompare(findChild(part("modelCard"), "cardConversation"), "value", "134\u00a0MB");
            compare(findChild(part("modelCard"), "cardConversation").label, "4K tokens take");
            tryVerify(() => findChild(part("modelCard"), "load").activeFocus);
            keyClick(Qt.Key_Escape);
            tryCompare(part("emptyState"), "visible", true);
        }

        function test_cancel_a_load() {
            makeWindow({ loadMs: 60000 });
            Bench.openAtOnce("/models/tiny.gguf");
            const cancel = findChild(part("modelCard"), "cancelLoad");
            tryVerify(() => Bench.models.phase === ModelController.Loading);
            click(cancel);
            tryCompare(part("emptyState"), "visible", true);
            verify(!part("modelError").visible);
        }

        function test_a_message_is_written_while_the_model_loads() {
            makeWindow({ loadMs: 60000 });
            Bench.openAtOnce("/models/tiny.gguf");
            tryVerify(() => Bench.models.phase === ModelController.Loading);
            tryCompare(part("composerField"), "activeFocus", true);
            type("a b");
            keyClick(Qt.Key_Return);
            compare(Bench.models.phase, ModelController.Loading);
            compare(part("composerField").text, "a b"); // cannot be sent yet, so it stays
            keyClick(Qt.Key_Escape);
            tryVerify(() => Bench.models.phase === ModelController.Idle);
            tryCompare(part("emptyState"), "visible", true);
            verify(part("composerField").activeFocus); // where something is written, writing goes on
        }

        // A model comes when it comes: what is typed meanwhile stays where it is typed.
        function test_the_keyboard_stays_where_one_writes_data() {
            return [{ tag: "in the search", field: "searchField" }, { tag: "in a message", field: "editField" },
                    { tag: "in the settings", field: "number" }];
        }
        function test_the_keyboard_stays_where_one_writes(data) {
            makeWindow();
            openModel();
            ask("first");
            tryVerify(() => !Bench.chat.turn.busy);
            Bench.script({ loadMs: 60000 });
            Bench.models.reload();
            tryCompare(Bench.models, "phase", ModelController.Loading);
            let field;
            if (data.field === "searchField") {
                keyClick(Qt.Key_K, Qt.ControlModifier);
                field = part("searchField");
            } else if (data.field === "editField") {
                keyClick(Qt.Key_Up); // in the empty composer
                tryVerify(() => messagePart("editField", 0));
                field = messagePart("editField", 0);
            } else {
                keyClick(Qt.Key_Comma, Qt.ControlModifier);
                tryVerify(() => findChild(shell, "settingsPage"));
                field = findChild(part("settingsPage"), data.field).contentItem;
                field.forceActiveFocus(Qt.TabFocusReason);
            }
            tryCompare(field, "activeFocus", true);
            Bench.models.cancel();
            tryCompare(Bench.models, "phase", ModelController.Idle);
            wait(50);
            verify(field.activeFocus);
        }

        function test_what_cannot_run() {
            makeWindow({ runnable: false, context: 0 });
            Bench.models.open("file:///models/tiny.gguf");
            const card = part("modelCard");
            tryVerify(() => findChild(card, "cardObstacle").visible);
            verify(!findChild(card, "load").visible);
            compare(findChild(card, "cardContext").value, "–"); // what is not known is not zero
            compare(findChild(card, "cardConversation").value, "–");
            keyClick(Qt.Key_Return);
            tryCompare(part("emptyState"), "visible", true);
        }

        function test_bad_file() {
            makeWindow();
            Bench.models.open("file:///models/broken.gguf");
            const notice = part("modelError");
            tryCompare(notice, "visible", true);
            compare(notice.sentence, "The file ends inside the GGUF header.");
            click(findChild(notice, "noticeDismiss"));
            verify(!notice.visible);
        }

        function test_load_failure_can_be_retried() {
            makeWindow({ loadError: "the model needs 4 GB and 2 GB are free" });
            Bench.openAtOnce("/models/tiny.gguf");
            const notice = part("modelError");
            tryCompare(notice, "visible", true);
            Bench.script({ loadError: "" });
            click(findChild(notice, "noticeAction"));
            tryVerify(() => findChild(part("modelCard"), "load").enabled);
            verify(!notice.visible);
        }

        function test_dropped_picture() {
            makeWindow();
            Bench.models.openDropped(["file:///pictures/cat.png"]);
            verify(part("modelError").visible);
            verify(part("modelError").sentence.indexOf("cat.png") > 0);
        }

        function test_lost_model_can_be_opened_again() {
            makeWindow({ tokens: 40, error: "the file went away", errorAfter: 3 });
            openModel();
            ask("hello");
            const notice = part("modelError");
            tryCompare(notice, "visible", true);
            verify(!Bench.models.current.known);
            tryVerify(() => !Bench.pressure.monitor.hasModel && Bench.pressure.placement.layers === 0);
            Bench.script({ error: "" });
            click(findChild(notice, "noticeAction"));
            tryVerify(() => findChild(part("dockedModelCard"), "load").activeFocus);
            keyClick(Qt.Key_Return);
            tryVerify(() => Bench.chat.turn.canSend);
            tryVerify(() => footer() && messagePart("answerNotice").actionText !== "");
            click(findChild(messagePart("answerNotice"), "noticeAction"));
            tryVerify(() => !Bench.chat.turn.busy && lastText().length > 100);
        }

        function test_another_model_while_one_answers() {
            makeWindow({ tokens: 5000, tokenMs: 5 });
            openModel();
            ask("hello");
            tryCompare(part("phase"), "text", "Answering");
            Bench.models.open("file:///models/other.gguf");
            const card = part("dockedModelCard");
            tryVerify(() => card.visible && findChild(card, "load").enabled);
            compare(findChild(card, "load").text, "Stop and load");
            verify(Bench.chat.turn.busy); // nothing has happened yet
            click(findChild(card, "load"));
            tryVerify(() => Bench.models.current.name === "other");
            verify(!Bench.chat.turn.busy);
            compare(Bench.chat.messages.count, 2);
        }
    }
}
