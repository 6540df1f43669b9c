// Tests that the page which finds models asks first, searches, shows one model, fetches it, and says what goes wrong.
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
        name: "FindModels"

        function init() {
            makeWindow({ hub: true });
            if (!Bench.fetching.available) {
                skip("built without the network");
                return;
            }
            Bench.putModels([]);
            keyClick(Qt.Key_L, Qt.ControlModifier);
            tryVerify(() => findChild(shell, "modelsPage"));
            tryVerify(() => Bench.catalogue.scanned && !Bench.catalogue.scanning);
        }
        function goThere() {
            click(part("findModels"));
            tryVerify(() => findChild(shell, "findPage"));
        }
        function goThereAllowed() {
            goThere();
            click(part("allowNetwork"));
            tryCompare(part("hubSearch"), "activeFocus", true);
        }
        function search(words) {
            type(words);
            keyClick(Qt.Key_Return);
            tryVerify(() => !Bench.fetching.finder.searching);
        }
        function openTiny() {
            search("tiny");
            click(part("found0"));
            tryVerify(() => Bench.fetching.page.looked.known);
        }

        function test_asks_before_anybody_is_asked() {
            click(part("emptyFind"));
            tryVerify(() => findChild(shell, "findPage"));
            tryCompare(part("askFirst"), "visible", true);
            verify(part("askFirstSentence").text.indexOf(Bench.fetching.host) > 0);
            verify(!part("hubSearch").visible);
            verify(part("firstModel0").visible); // to look at
            mouseClick(part("firstModel0"));
            compare(Bench.fetching.page.modelId, "");
            compare(Bench.hubRequests(), 0);
            compare(Bench.namelessControls(shell).join(), "");

            click(part("allowNetwork"));
            tryCompare(part("hubSearch"), "activeFocus", true);
            verify(!part("askFirst").visible);
            compare(Bench.settings.findModels.value, 1);
            click(part("firstModel0"));
            compare(Bench.fetching.page.modelId, "Qwen/Qwen3-0.6B-GGUF");
            tryVerify(() => Bench.fetching.page.looked.known);
            verify(Bench.hubRequests() > 0);
        }

        // What fits is found out at the first sight of the page, while its rows are being laid out.
        function test_first_models_stand_one_below_the_other() {
            Bench.settings.findModels.value = 1; // in an earlier start
            goThere();
            tryVerify(() => Bench.seen(shell, "firstModel1")?.visible);
            Bench.nextFrame(part("firstModel1"));
            Bench.nextFrame(part("firstModel1"));
            const heading = findChild(part("firstModels"), "firstHeading");
            verify(/as of \d{1,2} [A-Z][a-z]{2} 20\d\d$/.test(heading.text), heading.text); // no 11/12/26
            verify(part("firstModel0").y >= heading.y + heading.height, "the first model lies on the heading");
            verify(part("firstModel1").y >= part("firstModel0").y + part("firstModel0").height, "they lie on each other");
        }

        function test_searches_and_shows_more() {
            goThereAllowed();
            search("more");
            tryCompare(part("foundModels"), "visible", true);
            verify(!part("firstModels").visible);
            compare(Bench.fetching.finder.results.rowCount(), 30);
            part("moreModels").forceActiveFocus(Qt.TabFocusReason); // it is below what is seen
            keyClick(Qt.Key_Space);
            tryVerify(() => Bench.fetching.finder.results.rowCount() === 35);
            tryCompare(part("moreModels"), "visible", false);
            compare(Bench.namelessControls(shell).join(), "");
            part("hubSearch").forceActiveFocus(Qt.TabFocusReason);
            keyClick(Qt.Key_A, Qt.ControlModifier);
            search("nobody");
            tryCompare(part("noneFound"), "visible", true);
            keyClick(Qt.Key_A, Qt.ControlModifier);
            keyClick(Qt.Key_Delete);
            tryCompare(part("firstModels"), "visible", true);
        }

        function test_back_leads_to_the_place_in_the_results() {
            goThereAllowed();
            search("more");
            tryVerify(() => Bench.seen(shell, "found29")?.visible);
            Bench.nextFrame(part("found29"));
            Bench.nextFrame(part("found29")); // it is where it belongs
            part("found29").forceActiveFocus(Qt.TabFocusReason); // scrolls to it
            const page = part("findPage");
            tryVerify(() => page.scrolled > 300);
            const place = page.scrolled;
            part("found29").clicked();
            tryVerify(() => Bench.fetching.page.looked.known);
            tryCompare(page, "scrolled", 0);
            verify(findChild(page, "pageBack").activeFocus); // the row that had the keyboard is hidden
            page.backRequested();
            tryCompare(page, "scrolled", place);
            part("hubSearch").forceActiveFocus();
            part("hubSearch").selectAll();
            search("tiny"); // another search begins at its top
            tryCompare(page, "scrolled", 0);
        }

        function test_an_old_failure_goes_with_its_words() {
            goThereAllowed();
            Bench.hub(503);
            search("tiny");
            tryCompare(part("searchError"), "visible", true);
            Bench.hub(200);
            type("x");
            tryCompare(part("searchError"), "visible", false);
            compare(Bench.fetching.finder.error, "");
            keyClick(Qt.Key_A, Qt.ControlModifier);
            search("more");
            keyClick(Qt.Key_A, Qt.ControlModifier);
            type("org/tiny:Q4_K_M");
            keyClick(Qt.Key_Return);
            tryVerify(() => Bench.fetching.page.looked.known);
            part("findPage").backRequested();
            compare(Bench.fetching.finder.words, ""); // what the address does not mean is not found below it
        }

        // What is not on this computer may be on the hub.
        function test_words_lead_from_the_models_page_to_the_hub() {
            Bench.putModels(["org/repo/mine.gguf"]);
            Bench.catalogue.rescan();
            tryVerify(() => Bench.catalogue.total === 1 && !Bench.catalogue.scanning);
            Bench.catalogue.models.text = "tin";
            tryVerify(() => part("findOnHub").visible);
            compare(Bench.namelessControls(shell).join(), "");
            click(part("findOnHub"));
            tryVerify(() => Bench.seen(shell, "askFirst")?.visible);
            compare(Bench.hubRequests(), 0);
            click(part("allowNetwork"));
            tryVerify(() => Bench.fetching.finder.results.rowCount() === 1);
            compare(part("hubSearch").text, "tin");
            keyClick(Qt.Key_L, Qt.ControlModifier);
            Bench.catalogue.models.text = "nobody";
            tryVerify(() => part("findOnHub").visible);
            click(part("findOnHub"));
            tryVerify(() => Bench.fetching.finder.words === "nobody" && Bench.fetching.finder.searched);
            Bench.catalogue.models.text = "";
            tryCompare(part("findOnHub"), "visible", false);
        }

        function test_a_failure_is_a_sentence() {
            goThereAllowed();
            Bench.hub(503);
            search("tiny");
            tryCompare(part("searchError"), "visible", true);
            verify(part("searchError").sentence.endsWith("."));
            Bench.hub(200);
            click(findChild(part("searchError"), "noticeAction"));
            tryVerify(() => Bench.fetching.finder.results.rowCount() === 1);
            Bench.hub(404);
            click(part("found0"));
            tryCompare(part("hubModelError"), "visible", true);
            Bench.hub(200);
            click(findChild(part("hubModelError"), "noticeAction"));
            tryVerify(() => Bench.fetching.page.looked.known);
            verify(!part("hubModelError").visible);
        }

        function test_fetches_and_opens() {
            goThereAllowed();
            openTiny();
            const row = part("quant1");
            verify(row.recommended && row.chosen);
            verify(seen(row, "reason").text.startsWith("Recommended"));
            compare(seen(row, "canRun").text, "Spillway can run it.");
            tryVerify(() => part("card").height > 20);
            compare(Bench.namelessControls(shell).join(), "");
            compare(Bench.unspokenStops(shell).join(), "");
            click(seen(row, "fetch"));
            tryVerify(() => part("fetch0").fetchState === Fetch.Done, 15000);
            tryVerify(() => Bench.catalogue.total === 1); // and the catalogue has it
            tryVerify(() => !seen(row, "fetch").visible);
            verify(seen(part("quant0"), "fetch").visible);
            click(seen(part("fetch0"), "openFetched"));
            tryVerify(() => Bench.models.current.known);
            tryCompare(part("composerField"), "activeFocus", true);
        }

        // The smallest window at the largest text: words and buttons lie one below the other.
        function test_a_model_is_read_at_large_text_in_a_small_window() {
            goThereAllowed();
            openTiny();
            Theme.scale = 2;
            parent.width = 640;
            const row = part("quant1"), head = seen(row, "look"), fetch = seen(row, "fetch"), summary = seen(shell, "hubModelSummary");
            tryVerify(() => fetch.y >= head.y + head.height && fetch.mapToItem(row, fetch.width, fetch.height).x <= row.width);
            const words = Array.from(head.contentItem.children).filter(item => item.visible);
            verify(words.length > 1);
            tryVerify(() => words.every(item => item.x + item.width <= head.width && item.y + item.height <= head.height && !item.truncated));
            tryVerify(() => summary.width > part("findPage").width / 2);
            const onHub = seen(shell, "showOnHub");
            tryVerify(() => !onHub?.visible || onHub.y >= summary.y + summary.height);
        }

        function test_first_models_at_large_text_in_a_small_window() {
            goThereAllowed();
            Theme.scale = 2;
            parent.width = 640;
            for (let i = 0; seen(shell, "firstModel" + i); ++i) {
                const row = seen(shell, "firstModel" + i);
                const all = () => Array.from(row.contentItem.children).concat(Array.from(row.contentItem.children[0].children));
                tryVerify(() => all().every(item => !item.visible || item.width > 0 && !item.truncated && item.mapToItem(row, item.width, 0).x <= row.width
                                                                     && item.mapToItem(row, 0, item.height).y <= row.height), 5000, row.title);
            }
        }

        function test_a_fetch_that_stalls_says_so() {
            goThereAllowed();
            openTiny();
            Bench.hub(200, 0, 6500);
            click(seen(part("quant1"), "fetch"));
            tryVerify(() => part("fetch0").fetchState === Fetch.Fetching);
            tryVerify(() => /nothing has arrived for [4-9]\u00a0s$/.test(seen(part("fetch0"), "fetchStatus").text), 9000);
            Bench.hub(200);
            click(seen(part("fetch0"), "pauseFetch"));
            verify(seen(part("fetch0"), "fetchStatus").text.startsWith("Paused"));
        }

        // What is here is opened from its own page, also after the list has forgotten it; what comes says that it does.
        function test_what_is_here_is_not_offered_again() {
            goThereAllowed();
            openTiny();
            const row = part("quant1");
            compare(seen(row, "fetch").text, "Fetch");
            Bench.hub(200, 0, 6);
            click(seen(row, "fetch"));
            tryVerify(() => seen(row, "comes").visible && !seen(row, "fetch").visible && !seen(row, "openHere").visible);
            compare(seen(row, "comes").text, "Is being fetched");
            tryVerify(() => part("fetch0").doneBytes > 0, 15000);
            click(seen(part("fetch0"), "pauseFetch"));
            tryCompare(seen(row, "fetch"), "text", "Go on");
            Bench.hub(200);
            click(seen(row, "fetch"));
            tryVerify(() => part("fetch0").fetchState === Fetch.Done, 15000);
            click(seen(part("fetch0"), "cancelFetch")); // takes it off the list
            tryVerify(() => seen(row, "openHere").visible && !seen(row, "fetch").visible);

            Bench.fetching.page.setWanted(0, true); // which is not here
            tryVerify(() => seen(row, "fetch").visible && !seen(row, "openHere").visible);
            Bench.fetching.page.setWanted(0, false);
            Bench.fetching.page.open("org/tiny");
            tryVerify(() => Bench.fetching.page.looked.known);
            tryVerify(() => seen(part("quant1"), "openHere").visible);
            compare(Bench.namelessControls(shell).join(), "");
            click(seen(part("quant1"), "openHere"));
            tryVerify(() => Bench.models.current.known);
            tryCompare(part("composerField"), "activeFocus", true);
        }

        function test_what_is_named_is_opened() {
            goThereAllowed();
            type("org/tiny:Q4_K_M");
            keyClick(Qt.Key_Return);
            compare(Bench.fetching.finder.words, ""); // nothing is searched for
            tryVerify(() => Bench.fetching.page.looked.known);
            verify(part("quant0").chosen);
            compare(part("findPage").title, "org/tiny");
        }

        function test_companions_are_ticked() {
            goThereAllowed();
            openTiny();
            compare(Bench.fetching.page.companions.length, 2);
            const first = part("companion1"), second = part("companion0");
            verify(first.Accessible.name.startsWith("MTP-tiny.gguf") && first.purpose.startsWith("Guesses"));
            verify(second.purpose.startsWith("Lets the model see"));
            verify(!first.companion.wanted && !second.companion.wanted);
            second.forceActiveFocus(Qt.TabFocusReason);
            keyClick(Qt.Key_Space);
            verify(second.companion.wanted && second.Accessible.checked);
            verify(second.activeFocus); // it is the same row
            keyClick(Qt.Key_Return);
            verify(!second.companion.wanted);
            keyClick(Qt.Key_Return);
            compare(Bench.namelessControls(shell).join(), "");
            Bench.fetching.page.fetch(1);
            tryVerify(() => part("fetch0").fetchState === Fetch.Done, 15000);
            tryVerify(() => Bench.catalogue.total === 2); // of which the bench does not know what they are
        }

        function test_speed_is_foretold_and_tried() {
            goThereAllowed();
            openTiny();
            const row = part("quant1");
            compare(seen(row, "foretold0").value, "–"); // nothing is known of this machine
            compare(seen(row, "foretold32768").value, "beyond its context");
            verify(seen(row, "trialWords").text.startsWith("A made model"));
            compare(Bench.unspokenStops(shell).join(), "");
            seen(row, "trySpeed").forceActiveFocus(Qt.TabFocusReason);
            keyClick(Qt.Key_Space);
            tryCompare(Bench.fetching.page.trial, "state", SpeedTrial.Done);
            verify(seen(row, "trialWords").text.startsWith("Measured here: "), seen(row, "trialWords").text);
            compare(seen(row, "trySpeed").text, "Try its speed now");
        }

        function test_pause_quit_go_on_cancel() {
            goThereAllowed();
            openTiny();
            Bench.hub(200, 0, 6);
            click(seen(part("quant1"), "fetch"));
            tryVerify(() => part("fetch0").doneBytes > 100000, 15000);
            click(seen(part("fetch0"), "pauseFetch"));
            compare(part("fetch0").fetchState, Fetch.Paused);
            verify(part("fetch0").status.startsWith("Paused"));

            shell.destroy();
            wait(0);
            Bench.restartFetching(); // the next start
            showWindow();
            keyClick(Qt.Key_L, Qt.ControlModifier);
            tryVerify(() => findChild(shell, "modelsPage"));
            goThere();
            verify(!part("askFirst").visible);
            compare(part("fetch0").fetchState, Fetch.Paused);
            verify(part("fetch0").doneBytes > 0);
            click(seen(part("fetch0"), "resumeFetch"));
            tryCompare(part("fetch0"), "fetchState", Fetch.Fetching);
            click(seen(part("fetch0"), "cancelFetch"));
            const dialog = findChild(part("fetch0"), "confirmCancelFetch");
            tryVerify(() => dialog.opened);
            click(seen(dialog.contentItem, "confirmCancel"));
            tryVerify(() => !dialog.visible);
            compare(Bench.fetching.queue.count, 1);
            click(seen(part("fetch0"), "cancelFetch"));
            tryVerify(() => dialog.opened);
            click(seen(dialog.contentItem, "confirmAccept"));
            compare(Bench.fetching.queue.count, 0);
            tryCompare(part("fetchList"), "visible", false);
        }

        // Wherever one is, it is seen that something is fetched, has stopped or failed, and one click leads there.
        function test_fetches_are_seen_from_elsewhere() {
            const mark = () => seen(part("navModels"), "navMark").visible;
            goThereAllowed();
            compare(mark(), false);
            openTiny();
            Bench.hub(200, 0, 6);
            click(seen(part("quant1"), "fetch"));
            tryVerify(() => part("fetch0").doneBytes > 200000, 15000);
            part("findPage").backRequested();
            part("findPage").backRequested();
            tryVerify(() => part("modelsPage").visible);
            const line = part("fetchesLine");
            tryVerify(() => line.visible && mark());
            verify(/^tiny-Q8_0 is being fetched: \d+\s%$/.test(line.all), line.all);
            compare(part("navModels").Accessible.description, "A model is being fetched");
            Bench.fetching.queue.pause(0);
            tryVerify(() => /^tiny-Q8_0 is paused at \d+\s%$/.test(line.all));
            Bench.hub(404);
            Bench.fetching.queue.add("org/tiny", "tiny-Q4_K_M.gguf", "Q4_K_M", 10);
            tryVerify(() => line.words === "tiny-Q4_K_M could not be fetched");
            verify(line.all.endsWith("1 more"), line.all);
            verify(mark());
            compare(Bench.namelessControls(shell).join(), "");
            click(line);
            tryVerify(() => part("findPage").visible && part("fetchList").visible);
            compare(findChild(part("findPage"), "pageFlick").contentY, 0);
            Bench.fetching.queue.cancel(1);
            Bench.fetching.queue.cancel(0);
            tryVerify(() => !mark());
            compare(line.summary.state, Fetch.None);
        }

        function test_back_leads_out_step_by_step() {
            goThereAllowed();
            openTiny();
            const back = () => findChild(part("findPage"), "pageBack");
            click(back());
            compare(Bench.fetching.page.modelId, "");
            tryCompare(part("foundModels"), "visible", true);
            click(back());
            tryVerify(() => part("modelsPage").visible);
            goThere();
            keyClick(Qt.Key_Escape);
            compare(shell.page, PageName.Conversation);
        }

        function test_who_is_refused_is_led_to_where_a_token_is_entered() {
            goThereAllowed();
            Bench.hub(401);
            Bench.fetching.page.open("org/tiny");
            tryVerify(() => part("hubModelError").visible);
            verify(part("hubModelError").sentence.indexOf("The settings take a token") > 0);
            verify(part("hubModelError").sentence.indexOf("HF_TOKEN") < 0); // which is for terminals
            compare(part("hubModelError").actionText, "Enter a token");
            part("hubModelError").actionRequested();
            tryVerify(() => part("hubToken").activeFocus);
            const flick = findChild(part("settingsPage"), "pageFlick");
            const top = part("hubToken").mapToItem(flick, 0, 0).y;
            verify(top >= 0 && top < flick.height); // in sight
            Bench.hub(200);
            type("hf_word");
            keyClick(Qt.Key_Return);
            tryVerify(() => Bench.fetching.page.ready); // it is asked again
            part("removeHubToken").clicked();
            tryVerify(() => !Bench.fetching.hasToken);
        }
        // One sentence says why, the ways out are beside it, and what a token opens is there by itself.
        function test_terms_have_to_be_accepted() {
            goThereAllowed();
            Bench.fetching.page.open("org/closed");
            const notice = part("gatedNotice");
            tryVerify(() => notice.visible && !Bench.fetching.page.looking);
            verify(notice.sentence.startsWith("Its terms have to be accepted on 127.0.0.1"), notice.sentence);
            compare(seen(part("quant0"), "lookError").visible, false);
            verify(part("showOnHub").visible);
            verify(Bench.fetching.page.webPage.endsWith("/org/closed"));
            compare(Bench.namelessControls(shell).join(), "");
            compare(notice.actionText, "Enter a token");
            // What leads to the files is the way to go, and nothing is recommended that is not given.
            const offer = seen(part("quant0"), "fetch"), reason = seen(part("quant0"), "reason");
            verify(findChild(notice, "noticeAction").primary);
            verify(!offer.primary && !reason.visible && !part("showOnHub").primary);
            click(findChild(notice, "noticeAction"));
            tryVerify(() => part("hubToken").activeFocus);
            type("hf_stranger");
            keyClick(Qt.Key_Return);
            tryVerify(() => notice.actionText === "Try again"); // a token is known, and nobody has accepted the terms
            verify(part("showOnHub").primary && !findChild(notice, "noticeAction").primary);
            part("removeHubToken").clicked();
            tryVerify(() => !Bench.fetching.hasToken);
            tryCompare(part("hubToken"), "visible", true);
            part("hubToken").forceActiveFocus();
            tryCompare(part("hubToken"), "activeFocus", true);
            type("hf_member");
            keyClick(Qt.Key_Return);
            tryVerify(() => Bench.fetching.page.looked.known);
            compare(Bench.fetching.page.barrier, "");
            verify(offer.primary && !part("showOnHub").primary);
            part("removeHubToken").clicked();
            tryVerify(() => !Bench.fetching.hasToken);
        }
        function test_settings_take_a_token() {
            keyClick(Qt.Key_Comma, Qt.ControlModifier);
            tryVerify(() => findChild(shell, "settingsPage"));
            const row = part("hubTokenRow");
            tryVerify(() => row.visible);
            verify(!part("keepHubToken").enabled);
            part("hubToken").forceActiveFocus();
            type("two words");
            keyClick(Qt.Key_Return);
            verify(row.effective.indexOf("one word") > 0);
            compare(part("hubToken").text, "two words"); // to be mended
            part("hubToken").clear();
            type("hf_word");
            keyClick(Qt.Key_Return);
            tryVerify(() => Bench.fetching.hasToken && !Bench.fetching.keepingToken);
            compare(row.effective, "");
            verify(row.explanation.indexOf("only you can read") > 0); // the test has no password store
            verify(!part("hubToken").visible);
            compare(Bench.namelessControls(shell).join(), "");
            part("removeHubToken").clicked();
            tryVerify(() => !Bench.fetching.hasToken);
            tryCompare(part("hubToken"), "visible", true);
            compare(part("hubToken").text, ""); // a secret is not shown again
        }
        function test_settings_take_it_back_and_list_who_was_asked() {
            goThereAllowed();
            openTiny();
            keyClick(Qt.Key_Comma, Qt.ControlModifier);
            tryVerify(() => findChild(shell, "settingsPage"));
            tryVerify(() => Bench.fetching.contacts.hosts.length >= 5);
            tryVerify(() => part("contact0").visible);
            verify(!part("noContacts").visible);
            Bench.putModels(["kept/readme.txt"]);
            Bench.settings.setFetchFolder(Bench.modelFolder("kept"));
            verify(part("fetchFolderRow").effective.endsWith("/kept"));
            compare(Bench.settings.modelFolders.length, 1); // it is looked into
            part("usualFetchFolder").forceActiveFocus(Qt.TabFocusReason);
            keyClick(Qt.Key_Space);
            compare(Bench.settings.fetchFolder, "");
            verify(part("fetchSpeedRow").visible);
            compare(Bench.namelessControls(shell).join(), "");
            Bench.settings.findModels.value = 0;
            verify(!Bench.fetching.allowed);
            compare(Bench.fetching.page.modelId, "");
        }
    }
}
