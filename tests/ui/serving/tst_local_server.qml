// Tests the page of the local server: its switch, its key, and what it says of the programs that are connected.
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
        name: "LocalServer"

        function show(script) {
            makeWindow(script);
            click(part("navLocalServer"));
            tryVerify(() => findChild(shell, "localServerPage"));
            tryCompare(part("onOff"), "activeFocus", true);
        }
        function switchOn() {
            keyClick(Qt.Key_Space);
            tryVerify(() => Bench.server.state === ServerController.On);
        }
        function inRow(row, name) {
            return seen(part(row), name);
        }
        function status(path, key) {
            return Bench.ask(path || "/v1/models", key).slice(0, 3);
        }

        function test_is_off_until_it_is_switched_on() {
            show();
            verify(!Bench.server.on);
            verify(!part("keyRow").visible);
            verify(!part("serverSign").visible);
            compare(Bench.server.key, "");
            compare(Bench.ask("/v1/models"), ""); // nobody listens
            compare(Bench.namelessControls(shell).join(), "");
            switchOn();
            verify(part("serverState").text.indexOf("127.0.0.1:" + Bench.server.port.value) > 0);
            tryCompare(part("serverSign"), "visible", true);
            compare(status(), "401");
            compare(status("/v1/models", Bench.server.key), "200");
            compare(Bench.namelessControls(shell).join(), "");
            keyClick(Qt.Key_Enter);
            tryVerify(() => Bench.server.state === ServerController.Off);
            compare(Bench.ask("/v1/models"), "");
            tryCompare(part("serverSign"), "visible", false);
        }
        function test_by_mouse_and_from_the_sign() {
            show();
            click(seen(part("onOff"), "choice1"));
            tryVerify(() => Bench.server.state === ServerController.On);
            keyClick(Qt.Key_Escape);
            tryVerify(() => !findChild(shell, "localServerPage").visible);
            click(part("serverSign"));
            tryVerify(() => findChild(shell, "localServerPage").visible);
            click(seen(part("onOff"), "choice0"));
            tryVerify(() => Bench.server.state === ServerController.Off);
        }
        function test_the_key_is_shown_when_it_is_asked_for() {
            show();
            switchOn();
            const key = Bench.server.key;
            verify(key.length > 40);
            tryCompare(part("keyRow"), "visible", true);
            verify(inRow("keyRow", "line").text.indexOf(key) < 0);
            click(inRow("keyRow", "showKey"));
            compare(inRow("keyRow", "line").text, key);
            click(inRow("keyRow", "copy"));
            compare(Bench.clipboard(), key);
            click(inRow("addressRow", "copy"));
            compare(Bench.clipboard(), "http://127.0.0.1:" + Bench.server.port.value + "/v1");
            click(inRow("keyRow", "newKey"));
            tryVerify(() => part("confirmNewKey").opened);
            compare(Bench.server.key, key);
            click(seen(part("confirmNewKey").contentItem, "confirmAccept"));
            verify(Bench.server.key !== key);
            tryVerify(() => Bench.server.state === ServerController.On);
            compare(status("/v1/models", key), "401");
            compare(status("/v1/models", Bench.server.key), "200");
        }
        function test_without_a_key() {
            show();
            switchOn();
            Bench.server.asksKey.value = 0;
            tryVerify(() => Bench.server.state === ServerController.On);
            compare(part("keyRow").visible, false);
            compare(status(), "200");
        }
        function test_a_port_that_is_taken() {
            show();
            Bench.server.port.value = Bench.takePort();
            keyClick(Qt.Key_Space);
            tryCompare(part("localServerTrouble"), "visible", true);
            verify(part("localServerTrouble").sentence.indexOf(Bench.server.port.value) > 0);
            verify(!Bench.server.on);
            compare(part("onOff").current, 0);
            Bench.server.port.value = Bench.freePort();
            switchOn();
            compare(part("localServerTrouble").visible, false);
            compare(inRow("portRow", "number").displayText, String(Bench.server.port.value));
        }
        function test_another_port_while_it_is_on() {
            show();
            switchOn();
            const before = Bench.server.port.value;
            Bench.server.port.value = Bench.freePort();
            tryVerify(() => Bench.server.state === ServerController.On && Bench.server.host === "127.0.0.1:" + Bench.server.port.value);
            compare(status("/health", Bench.server.key), "200");
            verify(before !== Bench.server.port.value);
        }
        function test_large_text_in_a_small_window() {
            show();
            Theme.scale = 2;
            parent.width = 640;
            switchOn();
            tryCompare(part("keyRow"), "visible", true);
            inRow("keyRow", "showKey").clicked();
            for (const row of ["addressRow", "keyRow"]) {
                const line = inRow(row, "line");
                tryVerify(() => line.contentWidth <= line.width && line.mapToItem(part(row), 0, line.height).y <= part(row).height, 5000, row);
                verify(!line.truncated, line.text);
            }
            compare(status(), "401");
            tryVerify(() => seen(part("requestRows"), "request0"));
            const words = Array.from(seen(part("requestRows"), "request0").children);
            compare(words.map(item => item.text).slice(1, 3), ["GET /v1/models", "refused with 401"]);
            tryVerify(() => words.every(item => !item.truncated && item.contentWidth <= item.width));
            // The sign of the server leaves the words of the open model no room.
            const name = part("modelName");
            tryVerify(() => name.parent.opacity === 0 || name.contentWidth <= name.width);
        }
        function test_many_requests_are_scrolled_in_their_list() {
            show();
            switchOn();
            for (let i = 0; i < 40; ++i)
                Bench.ask("/request" + i);
            tryCompare(Bench.server.requests, "count", 40);
            const list = part("requestList");
            tryVerify(() => list.height > 0 && list.contentHeight > 3 * list.height);
            verify(seen(list, "request0").Accessible.name.indexOf("GET /request39") >= 0);
            verify(!seen(list, "request39")); // what is out of sight is not made
            list.forceActiveFocus();
            tryVerify(() => list.mapToItem(shell, 0, list.height).y <= shell.height); // the page shows where the keyboard is
            keyClick(Qt.Key_End);
            tryVerify(() => seen(list, "request39"));
            verify(seen(list, "request39").Accessible.name.indexOf("GET /request0") >= 0);
            // Who has scrolled to an old request goes on seeing it.
            const top = seen(list, "request39").mapToItem(list, 0, 0).y;
            Bench.ask("/another");
            tryCompare(Bench.server.requests, "count", 41);
            tryVerify(() => seen(list, "request40") && Math.abs(seen(list, "request40").mapToItem(list, 0, 0).y - top) < 1);
            keyClick(Qt.Key_Home);
            tryVerify(() => seen(list, "request0"));
            compare(Bench.namelessControls(shell).join(), "");
        }
        function test_programs_are_answered_with_the_open_model() {
            show({ real: true, maxTokens: 8 });
            switchOn();
            tryCompare(part("nothingToServe"), "visible", true);
            Bench.server.asksKey.value = 0;
            tryVerify(() => Bench.server.state === ServerController.On);
            const body = JSON.stringify({ messages: [{ role: "user", content: "Hello" }], max_tokens: 5 });
            compare(Bench.ask("/v1/chat/completions", "", body).slice(0, 3), "503");
            Bench.openAtOnce(Bench.guide());
            tryVerify(() => Bench.models.current.known, 30000);
            tryCompare(part("nothingToServe"), "visible", false);
            verify(part("modelLine").text.indexOf("guide") > 0);
            tryVerify(() => Bench.ask("/v1/models").indexOf('"guide"') > 0);
            const answer = Bench.ask("/v1/chat/completions", "", body);
            compare(answer.slice(0, 3), "200");
            verify(answer.indexOf('"completion_tokens":5') > 0);
            tryVerify(() => Bench.server.requests.count > 2);
            tryVerify(() => seen(part("requestRows"), "request0"));
            const row = seen(part("requestRows"), "request0");
            verify(row.Accessible.name.indexOf("POST /v1/chat/completions") >= 0);
            verify(row.Accessible.name.indexOf("guide") >= 0);
            tryVerify(() => Bench.server.programs.count === 0);
            compare(Bench.namelessControls(shell).join(), "");
            // The window's conversation goes on beside it.
            Bench.chat.turn.send("Hello");
            tryVerify(() => !Bench.chat.turn.busy && Bench.chat.messages.count === 2, 30000);
            verify(lastText().length > 0);
        }
    }
}
