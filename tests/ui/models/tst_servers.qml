// Tests that a server is added on the page of servers, that its models are in the list, and that a conversation with
// one of them survives the server's end.
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
        name: "Servers"

        function init() {
            makeWindow({ server: true });
            if (!Bench.servers.available) {
                skip("built without the network");
                return;
            }
            Bench.putModels(["org/here/here-Q4_K_M.gguf"]);
            keyClick(Qt.Key_L, Qt.ControlModifier);
            tryVerify(() => findChild(shell, "modelsPage"));
            tryVerify(() => Bench.catalogue.scanned && !Bench.catalogue.scanning);
            click(part("showServers"));
            tryVerify(() => findChild(shell, "serversPage"));
            tryCompare(part("serverAddress"), "activeFocus", true);
        }
        function add() {
            type(Bench.serverUrl());
            keyClick(Qt.Key_Return);
            tryVerify(() => Bench.servers.all.length === 1 && !Bench.servers.adding);
        }
        function openIt() {
            add();
            click(findChild(findChild(shell, "serversPage"), "pageBack"));
            tryVerify(() => findChild(shell, "modelsPage").visible);
            compare(Bench.catalogue.total, 2);
            Bench.openAtOnce(Bench.serverUrl() + "/#org%2Fmodel");
            tryVerify(() => Bench.models.current.known);
            keyClick(Qt.Key_Escape);
        }

        function test_says_what_adding_means_before_anybody_is_asked() {
            verify(!part("whatAddingMeans").visible);
            verify(!part("addServer").enabled);
            type("192.168.0.5:8000");
            tryCompare(part("whatAddingMeans"), "visible", true);
            verify(part("whatAddingMeans").text.indexOf("192.168.0.5:8000") > 0);
            verify(part("inClearWarning").visible);
            compare(Bench.namelessControls(shell).join(), "");
            compare(Bench.servers.all.length, 0);
        }
        function test_adds_one_and_takes_it_out() {
            add();
            compare(part("serverAddress").text, "");
            tryVerify(() => findChild(shell, "server0"));
            verify(!part("serverTrouble").visible);
            compare(Bench.catalogue.total, 2);
            compare(Bench.namelessControls(shell).join(), "");
            click(part("removeServer"));
            compare(Bench.servers.all.length, 0);
            compare(Bench.catalogue.total, 1);
        }
        function test_a_key_is_not_deleted_unasked() {
            part("serverKey").text = "secret";
            add();
            verify(Bench.servers.all[0].hasKey);
            tryVerify(() => findChild(shell, "server0"));
            const dialog = part("confirmRemoveServer");
            click(part("removeServer"));
            tryVerify(() => dialog.opened);
            verify(dialog.question.indexOf(Bench.servers.all[0].name) > 0);
            click(seen(dialog.contentItem, "confirmCancel"));
            tryVerify(() => !dialog.visible);
            compare(Bench.servers.all.length, 1);
            click(part("removeServer"));
            tryVerify(() => dialog.opened);
            click(seen(dialog.contentItem, "confirmAccept"));
            compare(Bench.servers.all.length, 0);
        }
        function test_what_was_found_does_not_get_what_was_typed_for_another() {
            type("192.168.0.5:8000");
            part("serverName").text = "Upstairs";
            part("serverKey").text = "secret";
            part("serverAddress").parent.take(Bench.serverUrl(), false);
            tryVerify(() => Bench.servers.all.length === 1 && !Bench.servers.adding);
            verify(Bench.servers.all[0].name !== "Upstairs");
            verify(!Bench.servers.all[0].hasKey);
            compare(part("serverAddress").text, "192.168.0.5:8000"); // it can still be added
            compare(part("serverName").text, "Upstairs");
            compare(part("serverKey").text, "secret");
            part("serverAddress").parent.take("http://127.0.0.1:9", true);
            compare(part("serverAddress").text, "http://127.0.0.1:9");
            compare(part("serverKey").text, ""); // its own is to be typed
            compare(part("serverName").text, "");
            tryCompare(part("serverKey"), "activeFocus", true);
        }
        function test_says_where_a_key_is_kept() {
            type(Bench.serverUrl());
            click(part("serverKey"));
            verify(!part("keyNote").visible);
            type("word");
            tryCompare(part("keyNote"), "visible", true);
            verify(part("keyNote").text.indexOf("a file that only you can read") > 0); // the test has no password store
            keyClick(Qt.Key_Return);
            tryVerify(() => Bench.servers.all.length === 1 && !Bench.servers.adding);
            tryCompare(part("keyNote"), "visible", false);
            verify(part("serverSummary").text.indexOf("key in a private file") > 0);
            compare(Bench.namelessControls(shell).join(), "");
        }
        function test_rows_are_read_at_large_text_in_a_small_window() {
            type(Bench.serverUrl());
            click(part("serverKey"));
            type("word");
            keyClick(Qt.Key_Return);
            tryVerify(() => Bench.servers.all.length === 1 && !Bench.servers.adding);
            Theme.scale = 2;
            parent.width = 640;
            const row = part("server0"), summary = seen(row, "serverSummary"), remove = seen(row, "removeServer");
            const right = item => item.mapToItem(shell, item.width, 0).x;
            tryVerify(() => summary.lineCount > 1 && !summary.truncated && summary.contentWidth <= summary.width);
            tryVerify(() => right(summary) <= remove.mapToItem(shell, 0, 0).x && right(remove) <= shell.width);
            const form = part("serverForm"), add = part("addServer");
            tryVerify(() => part("serverName").width > form.width / 2 && part("serverKey").width > form.width / 2);
            tryVerify(() => right(add) <= right(form));
        }
        function test_says_that_servers_of_one_name_answer_for_each_other() {
            type(Bench.serverUrl());
            click(part("serverName"));
            type("cluster");
            keyClick(Qt.Key_Return);
            tryVerify(() => Bench.servers.all.length === 1 && !Bench.servers.adding);
            tryCompare(part("serverAddress"), "activeFocus", true); // for the next one
            type("192.168.0.5:8000");
            tryCompare(part("whatAddingMeans"), "visible", true);
            verify(!part("sameName").visible);
            click(part("serverName"));
            type("cluster");
            tryCompare(part("sameName"), "visible", true);
            compare(Bench.namelessControls(shell).join(), "");
        }
        function test_what_is_wrong_is_said() {
            type("no address at all");
            keyClick(Qt.Key_Return);
            tryCompare(part("serverTrouble"), "visible", true);
            keyClick(Qt.Key_A, Qt.ControlModifier);
            type("h");
            tryCompare(part("serverTrouble"), "visible", false);
        }
        function test_talks_to_it() {
            Bench.serverSays("Greetings");
            openIt();
            tryCompare(part("readyNote"), "visible", true);
            verify(part("readyNote").text.indexOf(Bench.models.current.server) > 0);
            verify(part("modelBadge").Accessible.name.indexOf(Bench.models.current.server) > 0);
            Bench.chat.turn.send("Hello");
            tryVerify(() => !Bench.chat.turn.busy);
            compare(Bench.chat.messages.count, 2);
            tryCompare(part("contextText"), "text", "15");
        }
        function test_goes_on_after_it_vanished() {
            Bench.serverSays("The begin", false);
            openIt();
            Bench.chat.turn.send("Hello");
            tryVerify(() => !Bench.chat.turn.busy);
            tryVerify(() => footer() && messagePart("answerNotice").visible);
            Bench.serverSays("ning", true);
            click(messagePart("continueButton"));
            tryVerify(() => !Bench.chat.turn.busy);
            compare(lastText(), "The beginning");
            compare(lastStatus(), MessageModel.Complete);
        }
        function test_its_numbers_are_in_the_panel() {
            Bench.serverCounts('vllm:kv_cache_usage_perc{engine="0"} 0.25\nvllm:num_requests_running 3\nvllm:num_requests_waiting 2\n');
            openIt();
            Bench.settings.panelShown.value = 1;
            tryVerify(() => Bench.serverLoad.measured);
            verify(findChild(shell, "legend_measured"));
            verify(!findChild(shell, "legend_predicted")); // nothing is foretold of it
            compare(part("serverKv").value, "25 %".replace(" ", "\u00a0"));
            compare(part("serverRunning").value, "3");
            compare(part("serverWaiting").value, "2");
            compare(part("serverHits").value, "–"); // it does not say
            verify(part("serverNote").sentence.indexOf("Measured by the server") === 0);
            verify(!part("serverFirstToken").visible);
            const times = fast => 'vllm:time_to_first_token_seconds_bucket{le="0.1"} ' + fast + '\n'
                                + 'vllm:time_to_first_token_seconds_bucket{le="+Inf"} ' + fast + '\n';
            Bench.serverCounts(times(4));
            wait(250);
            Bench.serverCounts(times(8));
            tryVerify(() => part("serverFirstToken").visible);
            compare(part("serverFirstToken").value, "50\u00a0ms");
            compare(part("serverFirstTokenMost").value, "99\u00a0ms");
            compare(part("serverTokenGap").value, "–");
            compare(Bench.namelessControls(shell).join(), "");
            Bench.settings.panelShown.value = 0;
            tryVerify(() => !Bench.serverLoad.shown);
        }
        function test_a_server_without_numbers_says_so() {
            openIt();
            Bench.settings.panelShown.value = 1;
            tryVerify(() => Bench.serverLoad.trouble !== "");
            verify(!part("serverKv").visible);
            compare(part("serverNote").sentence, Bench.serverLoad.trouble);
        }
        function test_what_it_does_not_know_is_greyed() {
            openIt();
            tryCompare(part("readyNote"), "visible", true);
            click(part("conversationSettingsButton"));
            tryCompare(part("closeSettings"), "activeFocus", true);
            verify(!part("top_kField").enabled);
            verify(part("temperatureField").enabled);
        }
    }
}
