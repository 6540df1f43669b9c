// Tests that models are found, sorted, judged and opened on their page, by mouse and keyboard.
import QtQuick
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
        name: "ModelsPage"

        function showModels(files, availableBytes, script) {
            makeWindow(script);
            Bench.putModels(files, availableBytes || 8e9);
            keyClick(Qt.Key_L, Qt.ControlModifier);
            tryVerify(() => findChild(shell, "modelsPage"));
            tryVerify(() => Bench.catalogue.scanned && !Bench.catalogue.scanning);
            if (files.length > 0)
                tryCompare(part("modelSearch"), "activeFocus", true); // it appears with the first model
        }
        function list() { return part("modelList"); }
        function row(index) {
            list().forceLayout();
            return list().itemAtIndex(index);
        }
        function titles() {
            let all = [];
            for (let i = 0; i < list().count; ++i) {
                list().positionViewAtIndex(i, ListView.Contain);
                all.push(row(i).entry.title);
            }
            return all.join(" ");
        }

        function test_empty_state_explains() {
            showModels([]);
            tryCompare(part("noModels"), "visible", true);
            verify(!part("modelList").visible);
            verify(part("emptyAddFolder").visible && part("emptyOpenFile").visible);
            compare(Bench.namelessControls(shell).join(), "");
        }

        // In a low window the words need the room.
        function test_empty_state_of_a_low_window() {
            showModels([]);
            tryCompare(part("noModels"), "visible", true);
            verify(part("noModelsPicture").visible);
            parent.height = 480;
            tryCompare(part("noModelsPicture"), "visible", false);
            parent.height = 640;
            tryCompare(part("noModelsPicture"), "visible", true);
        }

        function test_empty_state_at_large_text_in_a_small_window() {
            Theme.scale = 2;
            parent.width = 640;
            parent.height = 480;
            showModels([]);
            tryCompare(part("noModels"), "visible", true);
            const view = part("noModels").parent.parent, page = part("modelsPage");
            for (const name of ["emptyAddFolder", "emptyOpenFile"]) {
                const button = part(name);
                for (let stops = 0; !button.activeFocus && stops < 40; ++stops)
                    keyClick(Qt.Key_Tab);
                verify(button.activeFocus, name);
                tryVerify(() => {
                    const at = button.mapToItem(view, 0, 0);
                    return at.x >= 0 && at.x + button.width <= view.width && at.y >= 0 && at.y + button.height <= view.height;
                }, 20000, name);
            }
            const last = part("rescan");
            verify(last.mapToItem(page, last.width, 0).x <= page.width);
            Theme.scale = 1;
            parent.width = 1024;
            parent.height = 640;
        }

        function test_the_list_at_large_text_in_a_small_window() {
            Theme.scale = 2;
            parent.width = 640;
            parent.height = 480;
            showModels(["org/repo/tiny.gguf", "org/other/small.gguf"]);
            tryVerify(() => part("modelSearch").width > 400);
            keyClick(Qt.Key_Down);
            verify(list().activeFocus);
            const at = () => list().mapToItem(shell, 0, 0).y;
            tryVerify(() => list().height >= 200 && at() >= 0 && at() + list().height <= shell.height);
            const open = findChild(row(0), "openRow"), title = findChild(row(0), "rowTitle");
            tryVerify(() => open.visible && open.mapToItem(row(0), open.width, 0).x <= row(0).width);
            compare([title.text, title.truncated], [row(0).entry.title, false]);
            verify(!findChild(row(0), "rowSummary").truncated);
            keyClick(Qt.Key_Down);
            compare(list().currentIndex, 1);
            tryVerify(() => row(1).mapToItem(list(), 0, 0).y >= 0 && at() >= 0 && at() + list().height <= shell.height);
            part("modelSearch").forceActiveFocus(Qt.TabFocusReason);
            tryVerify(() => part("modelSearch").mapToItem(part("modelsPage"), 0, 0).y >= 0);
        }

        // In a row that is higher than the list, and below the rows.
        function test_what_the_keyboard_comes_to_is_seen_data() { return [{ tag: "100 %", scale: 1 }, { tag: "200 %", scale: 2 }]; }
        function test_what_the_keyboard_comes_to_is_seen(data) {
            Theme.scale = data.scale;
            parent.width = 640;
            parent.height = 480;
            showModels(["a.gguf", "b.gguf", "c.gguf"]);
            keyClick(Qt.Key_Down);
            keyClick(Qt.Key_Space);
            tryVerify(() => findChild(row(0), "deleteModel"));
            for (const item of [findChild(row(0), "copyPath"), findChild(row(0), "deleteModel"), findChild(list(), "addFolder"), findChild(row(0), "copyPath")]) {
                item.forceActiveFocus(Qt.TabFocusReason);
                const y = () => item.mapToItem(shell, 0, 0).y;
                tryVerify(() => y() >= part("pageFlick").mapToItem(shell, 0, 0).y && y() + item.height <= shell.height, 5000, item.objectName);
            }
        }

        function test_rows_say_what_they_are() {
            showModels(["org/repo/tiny.gguf", "org/other/broken.gguf"]);
            compare(titles(), "tiny broken");
            compare(row(0).Accessible.name,
                    "tiny, 1.24\u00a0B  ·  Q4_K_M  ·  808\u00a0MB  ·  2,048 tokens, Fits, LM Studio");
            const sentence = findChild(row(1), "rowSummary");
            compare(sentence.text, "The file ends inside the GGUF header.");
            row(1).foldRequested(); // the details say it, and nobody reads it twice
            tryCompare(sentence, "visible", false);
            row(1).foldRequested();
            tryCompare(sentence, "visible", true);
            verify(part("modelCount").text.indexOf("2 models") === 0, part("modelCount").text);
            compare(Bench.namelessControls(shell).join(), "");
        }

        // A small model of the same vocabulary is offered to guess for a large one, and what it takes is said.
        function test_a_draft_model_is_chosen() {
            showModels(["big.gguf", "half-small.gguf", "half-other.gguf"]);
            const big = () => [0, 1, 2].map(row).find(one => one && one.entry.title === "big");
            big().foldRequested();
            tryVerify(() => findChild(big(), "draftChoice"));
            const choice = findChild(big(), "draftChoice");
            tryVerify(() => choice.visible);
            compare(choice.model.length, 2); // none, and the one of the same vocabulary
            verify(choice.model[1].startsWith("half-small"), choice.model[1]);
            compare(choice.currentIndex, 0);
            const words = findChild(big(), "draftWords");
            verify(words.text.startsWith("A smaller model can guess"), words.text);
            const before = big().fit.neededBytes;
            choice.activated(1);
            tryVerify(() => big().fit.draftBytes > 0);
            compare(big().fit.neededBytes, before + big().fit.draftBytes);
            compare(choice.currentIndex, 1);
            verify(words.text.startsWith("It guesses what this model will say, and takes "), words.text);
            compare(Bench.namelessControls(shell).join(), "");

            big().openRequested();
            tryVerify(() => Bench.models.current.known && Bench.models.phase === ModelController.Idle);
            verify(Bench.lastDraftModel().endsWith("half-small.gguf"), Bench.lastDraftModel());
            keyClick(Qt.Key_L, Qt.ControlModifier);
            tryVerify(() => list() && big());
            if (!big().unfolded)
                big().foldRequested();
            tryVerify(() => findChild(big(), "draftChoice"));
            const again = () => findChild(big(), "draftReload");
            verify(!again().visible);
            findChild(big(), "draftChoice").activated(0);
            tryVerify(() => again().visible);
            click(again());
            tryVerify(() => Bench.models.phase === ModelController.Idle && Bench.lastDraftModel() === "");
        }

        function test_nothing_is_offered_where_nothing_fits() {
            showModels(["big.gguf", "half-other.gguf"]);
            row(0).foldRequested();
            tryVerify(() => findChild(row(0), "draftChoice"));
            wait(50);
            verify(!findChild(row(0), "draftChoice").visible);
        }

        // Equal names are told apart by their files.
        function test_namesakes_are_told_apart() {
            showModels(["org/a/tiny.gguf", "org/b/tiny.gguf", "org/c/other.gguf"]);
            const summaries = [0, 1, 2].map(at => findChild(row(at), "rowSummary").text);
            const of = title => [0, 1, 2].filter(at => row(at).entry.title === title);
            compare(of("tiny").length, 2);
            const [a, b] = of("tiny");
            verify(summaries[a] !== summaries[b], summaries[a]);
            for (const at of [a, b]) {
                verify(row(at).mark.endsWith("tiny.gguf"), row(at).mark);
                compare(summaries[at].indexOf(row(at).mark), 0);
                verify(row(at).Accessible.name.indexOf(row(at).mark) > 0);
            }
            compare(row(of("other")[0]).mark, "");
        }

        // What was opened by itself is among the models, wherever it lies, and stays there.
        function test_what_is_open_is_listed() {
            makeWindow();
            const outside = Bench.file("outside.gguf", "").toString().replace("file://", "");
            Bench.openAtOnce(outside);
            tryVerify(() => Bench.models.current.known);
            keyClick(Qt.Key_L, Qt.ControlModifier);
            tryVerify(() => findChild(shell, "modelsPage"));
            tryVerify(() => Bench.catalogue.scanned && !Bench.catalogue.scanning);
            verify(!part("noModels").visible);
            compare(titles(), "outside");
            verify(row(0).isOpen);
            compare(row(0).entry.storeName, "Opened");
            Bench.catalogue.rescan();
            tryVerify(() => !Bench.catalogue.scanning);
            compare(titles(), "outside");
        }

        function test_a_folder_without_models_says_so() {
            showModels(["org/repo/tiny.gguf", "holidays/readme.txt"]);
            verify(Bench.settings.addModelFolder(Bench.modelFolder("holidays")));
            tryVerify(() => part("catalogueError").visible);
            const sentence = part("catalogueError").sentence;
            verify(sentence.startsWith("There is no model in “") && sentence.indexOf("holidays”") > 0, sentence);
            // The sentence goes when another folder is chosen, even one that the store has already.
            verify(Bench.settings.addModelFolder(Bench.modelFolder("org")));
            tryVerify(() => !Bench.catalogue.scanning);
            compare(Bench.catalogue.error, "");
            verify(!part("catalogueError").visible);
            // The folder for what will be fetched may be without models.
            Bench.putModels(["fetched/readme.txt"]);
            Bench.settings.setFetchFolder(Bench.modelFolder("fetched"));
            tryVerify(() => Bench.settings.modelFolders.length === 3 && !Bench.catalogue.scanning);
            compare(Bench.catalogue.error, "");
            Bench.putModels(["empty/readme.txt"]);
            verify(Bench.settings.addModelFolder(Bench.modelFolder("empty")));
            tryVerify(() => part("catalogueError").visible);
            click(findChild(part("catalogueError"), "noticeDismiss"));
            compare(Bench.catalogue.error, "");
        }

        function test_enter_opens() {
            showModels(["a.gguf", "b.gguf"]);
            tryCompare(part("modelSearch"), "activeFocus", true);
            keyClick(Qt.Key_Down);
            verify(list().activeFocus);
            keyClick(Qt.Key_Down);
            compare(list().currentIndex, 1);
            keyClick(Qt.Key_Return);
            tryVerify(() => Bench.models.current.known);
            compare(Bench.models.current.name, "b");
            tryCompare(part("composerField"), "activeFocus", true); // and the conversation is shown
            keyClick(Qt.Key_L, Qt.ControlModifier);
            tryVerify(() => row(0).entry.title === "b" && row(0).isOpen); // used last, marked
            verify(row(0).used !== "");
        }

        function test_the_button_and_a_double_click_open() {
            showModels(["a.gguf", "b.gguf"]);
            let x = 60;
            tryVerify(() => {
                mouseMove(row(1), x++, 20); // until the row is where the list will leave it
                return findChild(row(1), "openRow").shown;
            });
            click(findChild(row(1), "openRow"));
            tryCompare(Bench.models.current, "name", "b");
            keyClick(Qt.Key_L, Qt.ControlModifier);
            tryVerify(() => row(1) && row(1).entry.title === "a");
            wait(50);
            mouseDoubleClickSequence(atRest(() => row(1)), 60, 20);
            tryVerify(() => Bench.models.current.name === "a");
        }

        // In a low window the first click scrolls the page to the list, so that the second one may meet another row.
        function test_a_double_click_on_two_rows_opens_neither() {
            showModels(["a.gguf", "b.gguf"]);
            click(row(0));
            verify(row(0).current && !row(1).current);
            Array.from(row(1).children).find(item => item instanceof MouseArea).doubleClicked(null);
            compare(Bench.models.phase, ModelController.Idle);
            verify(!Bench.models.current.known);
            verify(list().activeFocus);
        }

        function test_what_is_broken_says_why() {
            showModels(["broken.gguf"]);
            keyClick(Qt.Key_Down);
            keyClick(Qt.Key_Return);
            tryCompare(part("catalogueError"), "visible", true);
            compare(Bench.catalogue.error, "The file ends inside the GGUF header.");
            verify(!Bench.models.current.known);
        }

        // Enter means the button that has the keyboard, and not the row that it is in.
        function test_enter_on_a_button_of_a_row() {
            showModels(["tiny.gguf"]);
            keyClick(Qt.Key_Down);
            keyClick(Qt.Key_Space);
            tryVerify(() => row(0).unfolded && findChild(row(0), "copyPath"));
            for (const key of [Qt.Key_Return, Qt.Key_Enter]) {
                Bench.copy("something else");
                const button = findChild(row(0), "copyPath");
                button.forceActiveFocus(Qt.TabFocusReason);
                keyClick(key);
                verify(Bench.clipboard().endsWith("tiny.gguf"), Bench.clipboard());
            }
            wait(50);
            compare(Bench.models.phase, ModelController.Idle);
            verify(!Bench.models.current.known);
        }

        function test_details_unfold() {
            showModels(["a.gguf", "b.gguf"]);
            keyClick(Qt.Key_Down);
            const folded = row(0).height;
            keyClick(Qt.Key_Space);
            tryVerify(() => row(0).height > folded + 100);
            tryVerify(() => findChild(row(0), "fitVerdict").text.indexOf("to spare") > 0);
            verify(findChild(row(0), "modelPath").text.indexOf("a.gguf") > 0);
            compare(Bench.namelessControls(shell).join(), "");
            click(findChild(row(0), "copyPath"));
            verify(Bench.clipboard().endsWith("/a.gguf"));
            list().forceActiveFocus();
            keyClick(Qt.Key_Left);
            tryVerify(() => row(0).height === folded);
            click(row(1)); // in its middle
            tryVerify(() => row(1).unfolded);
            compare(list().currentIndex, 1);
        }

        function test_a_mixture_says_what_of_it_a_device_holds() {
            showModels(["a.gguf"]);
            const said = index => findChild(row(index), "expertsOnDevice");
            Bench.putMixture(1); // the experts of one of its two layers are to lie in RAM
            Bench.catalogue.rescan();
            tryVerify(() => list().count === 2 && row(0).entry.title === "a" && row(1));
            row(0).foldRequested();
            tryVerify(() => row(0).unfolded && said(0));
            verify(!said(0).visible); // it has none
            row(0).foldRequested();
            click(row(1));
            tryVerify(() => row(1).unfolded && said(1) && said(1).visible);
            compare(said(1).text, "Fits on the device: attention and 50\u00a0% of the experts.");
            Bench.putMixture(0);
            tryCompare(said(1), "text", "Fits on the device with all experts.");
        }

        function test_a_name_is_shown_as_it_is_before_it_is_deleted() {
            showModels(["a%1%2.gguf"]);
            keyClick(Qt.Key_Down);
            keyClick(Qt.Key_Delete);
            const dialog = part("deleteDialog");
            tryVerify(() => dialog.opened);
            verify(dialog.detail.startsWith("a%1%2.gguf goes for good, "), dialog.detail);
            keyClick(Qt.Key_Return);
            tryVerify(() => !dialog.opened);
        }

        function test_a_model_is_deleted() {
            showModels(["a.gguf", "b.gguf"]);
            keyClick(Qt.Key_Down);
            keyClick(Qt.Key_Delete);
            const dialog = part("deleteDialog");
            tryVerify(() => dialog.opened);
            compare(dialog.question, "Delete “a” from disk?");
            verify(seen(dialog.contentItem, "confirmAccept").destructive); // red
            verify(dialog.detail.startsWith("a.gguf goes for good, "), dialog.detail);
            verify(dialog.detail.endsWith("Conversations with it stay."));
            compare(Bench.namelessControls(shell).join(), "");
            keyClick(Qt.Key_Return); // does nothing but close it
            tryVerify(() => !dialog.opened);
            compare(list().count, 2);
            tryCompare(list(), "activeFocus", true);

            click(row(1));
            tryVerify(() => findChild(row(1), "deleteModel"));
            click(findChild(row(1), "deleteModel"));
            tryVerify(() => dialog.opened);
            compare(dialog.question, "Delete “b” from disk?");
            keyClick(Qt.Key_Tab);
            keyClick(Qt.Key_Space);
            tryCompare(list(), "count", 1);
            compare(titles(), "a");
            tryVerify(() => !Bench.catalogue.scanning);
            compare(titles(), "a");
            compare(Bench.catalogue.error, "");

            // The open model stays in the list.
            list().forceActiveFocus();
            keyClick(Qt.Key_Return);
            tryVerify(() => Bench.models.current.known);
            keyClick(Qt.Key_L, Qt.ControlModifier);
            tryVerify(() => row(0).isOpen);
            list().forceActiveFocus();
            keyClick(Qt.Key_Delete);
            tryVerify(() => part("catalogueError").visible);
            compare(Bench.catalogue.error, "“a” is open. Open another model first.");
            verify(!dialog.opened);
        }

        function test_layers_of_fixed_state_say_what_they_save_data() {
            return [
                { tag: "none", layers: 0, context: 131072, words: "" },
                // 4 layers of 8 heads of 64 numbers, each way, in f16; and eight states of 12 layers.
                { tag: "long", layers: 12, context: 262144, words: "12 of 16 layer(s) keep a state of fixed size: a conversation of 128K tokens takes 1.08\u00a0GB instead of 4.29\u00a0GB." },
                { tag: "short", layers: 12, context: 256, words: "12 of 16 layer(s) keep a state of fixed size: 9.6\u00a0MB a conversation, however long it is." }
            ];
        }
        function test_layers_of_fixed_state_say_what_they_save(data) {
            showModels(["a.gguf"], 64e9, { recurrentLayers: data.layers, context: data.context });
            keyClick(Qt.Key_Down);
            keyClick(Qt.Key_Space);
            tryVerify(() => findChild(row(0), "fixedState"));
            compare(findChild(row(0), "fixedState").text, data.words);
            compare(findChild(row(0), "fixedState").visible, data.words !== "");
        }

        function test_search_and_order() {
            showModels(["alpha.gguf", "beta.gguf", "betamax.gguf"]);
            type("beta");
            compare(list().count, 2);
            compare(part("modelCount").text.split(" ").slice(0, 3).join(" "), "2 of 3");
            type("zzz");
            compare(list().count, 0);
            tryCompare(part("noModelFound"), "visible", true);
            const sentence = part("noModelFound"), places = part("placesList");
            tryVerify(() => sentence.mapToItem(shell, 0, sentence.height).y <= places.mapToItem(shell, 0, 0).y);
            click(findChild(part("modelSearch"), "clearSearch"));
            compare(list().count, 3);
            compare(part("modelSearch").text, "");
            click(findChild(part("modelOrder"), "choice2"));
            compare(Bench.catalogue.models.order, ShownModels.BySize);
            click(findChild(part("modelOrder"), "choice1"));
            compare(titles(), "alpha beta betamax");
        }

        function test_what_does_not_fit() {
            showModels(["a.gguf"], 5e8);
            tryVerify(() => row(0).fit.verdict === Fit.DoesNotFit);
            verify(row(0).Accessible.name.indexOf("Does not fit") > 0);
            Bench.putModels([], 8e9);
            tryVerify(() => row(0).fit.verdict === Fit.Fits, 5000); // it looks again by itself
        }

        function test_folders_can_be_named_and_taken_back() {
            showModels(["mine/a.gguf"]);
            verify(Bench.settings.addModelFolder(Bench.modelFolder("mine")));
            tryVerify(() => !Bench.catalogue.scanning);
            list().contentY = list().originY + list().contentHeight + list().bottomMargin - list().height;
            tryVerify(() => findChild(list(), "removeFolder") && findChild(list(), "removeFolder").visible);
            compare(Bench.catalogue.places.length, 2);
            click(findChild(list(), "removeFolder"));
            compare(Bench.settings.modelFolders.length, 0);
            compare(Bench.catalogue.places.length, 1);
        }

        function test_five_hundred_rows_and_long_names() {
            let files = [];
            for (let i = 0; i < 500; ++i)
                files.push("org/repo/" + "a-very-long-name-".repeat(i % 10) + String(i).padStart(3, "0") + ".gguf");
            showModels(files);
            compare(list().count, 500);
            keyClick(Qt.Key_Down);
            keyClick(Qt.Key_End);
            compare(list().currentIndex, 499);
            const start = Date.now();
            for (let i = 0; i < 100; ++i)
                keyClick(Qt.Key_Up);
            verify(Date.now() - start < 4000, "100 keys took " + (Date.now() - start) + " ms");
            compare(list().currentIndex, 399);
            for (const size of [[640, 480], [1024, 640], [2560, 1440]]) {
                parent.width = size[0];
                parent.height = size[1];
                wait(50);
                list().positionViewAtIndex(9, ListView.Beginning);
                const open = row(9);
                verify(open.width <= list().width);
                const title = findChild(open, "rowTitle");
                verify(title.mapToItem(list(), title.width, 0).x <= list().width, "a name leaves the list");
            }
            parent.width = 1024;
            parent.height = 640;
        }

        function test_tab_reaches_everything() {
            showModels(["a.gguf"]);
            let stops = [];
            for (let i = 0; i < 40; ++i) {
                const name = Bench.focusName(shell);
                if (stops.indexOf(name) < 0)
                    stops.push(name);
                keyClick(Qt.Key_Tab);
            }
            for (const name of ["modelSearch", "modelOrder", "modelList", "openFile", "rescan", "pageBack", "addFolder"])
                verify(stops.indexOf(name) >= 0, name + " is not among " + stops.join(" "));
        }
    }
}
