// Tests what the KV map of the pressure panel shows, by pointer and by keys, and that messages are pinned to the device.
import QtQuick
import Spillway.App
import Spillway.Tests
import ".."

Item {
    width: 1240
    height: 760

    PressureCase {
        name: "PressureKvMap"

        function test_without_recurrent_layers_nothing_is_said_of_states() {
            open();
            tryVerify(() => part("deviceChart").visible);
            tryCompare(part("kvMap"), "columns", 5);
            verify(!seen(part("panelGrid"), "legend_state"));
            verify(!seen(part("panelGrid"), "legend_stateOnDevice"));
            compare(part("stateNote").visible, false);
            compare(part("kvMap").Accessible.name, "KV map: 0 blocks on the device, 0 in RAM");
        }

        function test_states_of_recurrent_layers_are_shown() {
            open({ panel: true, text: "zebras graze", kvColumns: 5, recurrentLayers: 12,
                   device: { layers: 12, total: 8e9, weights: 4e9, kv: 1e9, state: 6e8 } });
            tryVerify(() => part("deviceChart").visible);
            tryVerify(() => seen(part("panelGrid"), "legend_state"));
            compare(part("legend_state").Accessible.name, "States: 600\u00a0MB");
            compare(part("legend_kv").Accessible.name, "KV: 1\u00a0GB");
            click(part("legend_state"));
            compare(part("deviceChart").hidden[0], "state");
            const map = part("kvMap");
            tryCompare(map, "statesOnDevice", 6);
            compare(part("legend_stateOnDevice").Accessible.name, "States on the device: 6");
            compare(part("legend_stateOnHost").Accessible.name, "States in RAM: 6");
            verify(map.Accessible.name.endsWith("states of fixed size: 6 on the device, 6 in RAM"), map.Accessible.name);
            tryCompare(part("stateNote"), "visible", true);
            compare(part("stateNote").text, "At the left: what 12 layer(s) keep however long the conversation is, 1.2\u00a0MB in all");
            reveal(map);
            let y = 3;
            tryVerify(() => {
                mouseMove(map, 3, y ^= 1); // until the panel has come to rest
                return part("kvMapCard").text === "1 state(s) of fixed size, layer 0: on the device, 100\u00a0kB";
            }, 5000, part("kvMapCard").text);
            compare(Bench.chat.lit.first, -1); // of no tokens
            mouseMove(map, 20, 3);
            tryVerify(() => /^Tokens 0–\d+, layer 0: no KV of their own$/.test(part("kvMapCard").text), 5000, part("kvMapCard").text);
        }

        function test_a_new_conversation_has_no_kv() {
            open();
            ask("the first one");
            tryVerify(() => Bench.chat.messages.count === 2 && !Bench.chat.turn.busy);
            tryCompare(part("kvMap"), "columns", 5);
            const first = Bench.chat.conversationId;
            keyClick(Qt.Key_N, Qt.ControlModifier);
            tryCompare(part("kvMap"), "columns", 0);
            verify(part("kvMapEmpty").text.startsWith("Nothing is kept yet"));
            verify(!part("kvMapOfAnother").visible);
            ask("a second one");
            tryVerify(() => Bench.chat.messages.count === 2 && !Bench.chat.turn.busy);
            tryCompare(part("kvMap"), "columns", 5);
            verify(Bench.chat.open(first));
            tryCompare(part("kvMap"), "columns", 0);
            verify(part("kvMapEmpty").visible);
            verify(part("kvMapEmpty").text.startsWith("Nothing of this conversation is in memory now"), part("kvMapEmpty").text);
        }

        function test_a_cell_says_what_moved_it() {
            open();
            ask("a question");
            tryVerify(() => Bench.chat.messages.count === 2 && !Bench.chat.turn.busy);
            const map = part("kvMap");
            reveal(map);
            const pointAt = () => { // one cell, then another of the same tokens
                mouseMove(map, 3, map.height / 4);
                wait(20);
                mouseMove(map, 3, map.height * 3 / 4);
                wait(20);
                return part("kvMapCard").text;
            };
            tryVerify(() => pointAt().indexOf("Tokens 0") === 0, 5000, part("kvMapCard").text);
            verify(part("kvMapCard").text.indexOf("Moved last") < 0);
            Bench.move(0, 255);
            tryVerify(() => pointAt().indexOf("Moved last: Offload (watermark)") > 0, 5000, part("kvMapCard").text);
        }

        function test_a_cells_light_goes_when_the_panel_is_scrolled() {
            open();
            ask("one two three");
            tryVerify(() => Bench.chat.messages.count === 2 && !Bench.chat.turn.busy);
            const map = part("kvMap"), view = part("panelView");
            reveal(map);
            mouseMove(map, 3, map.height / 2);
            tryVerify(() => map.pointed.column !== undefined);
            tryVerify(() => part("kvMapCard").text !== "");
            view.contentY = view.contentY > 40 ? view.contentY - 40 : view.contentY + 40;
            tryVerify(() => map.pointed.column === undefined);
            compare(part("kvMapCard").text, "");
        }

        function test_the_kv_map_is_read_by_keys() {
            open();
            ask("one two three");
            tryVerify(() => Bench.chat.messages.count === 2 && !Bench.chat.turn.busy);
            const map = part("kvMap"), said = () => part("kvMapCard").text;
            verify(map.activeFocusOnTab);
            map.forceActiveFocus(Qt.TabFocusReason);
            compare(said(), "");
            keyClick(Qt.Key_Right);
            verify(said().startsWith("Tokens 0–"), said());
            compare(map.Accessible.description, said());
            keyClick(Qt.Key_Right);
            verify(said().startsWith("Tokens 256–"), said());
            verify(part("kvMapMark").visible);
            const band = map.pointed.firstLayer;
            keyClick(Qt.Key_Down);
            verify(map.pointed.firstLayer > band);
            keyClick(Qt.Key_End);
            compare(map.pointed.column, map.columns - 1);
            keyClick(Qt.Key_Home);
            keyClick(Qt.Key_Left); // there is nothing
            compare(map.pointed.column, 0);
            part("panelClose").forceActiveFocus(Qt.TabFocusReason);
            compare(said(), "");
            verify(!part("kvMapMark").visible);
        }

        function test_a_message_and_its_cells_light_each_other() {
            open();
            ask("one two three");
            tryVerify(() => Bench.chat.messages.count === 2 && !Bench.chat.turn.busy);
            const lit = Bench.chat.lit;
            mouseMove(message(0), message(0).width / 2, message(0).height / 2);
            tryVerify(() => lit.message !== "");
            compare(lit.message, message(0).messageId);
            compare(lit.last - lit.first + 1, 3); // a word is a token
            compare(part("kvMap").lightFirst, lit.first);
            mouseMove(panel(), 5, 5);
            tryCompare(lit, "message", "");
            lit.pointAtToken(lit.first < 0 ? 5 : 0);
            tryCompare(lit, "message", message(0).messageId);
            tryVerify(() => findChild(message(0), "litMark").visible);
            part("panelView").contentY += 10; // what lit it is no longer under the pointer
            tryCompare(lit, "message", "");
        }

        function test_a_message_is_pinned() {
            open();
            ask("one two three");
            tryVerify(() => Bench.chat.messages.count === 2 && !Bench.chat.turn.busy);
            mouseMove(message(0), 20, 10);
            click(messagePart("pinButton", 0));
            tryVerify(() => lastCommand() === "pins 1");
            compare(Bench.chat.pins.messages.length, 1);
            click(messagePart("pinButton", 0));
            tryVerify(() => lastCommand() === "pins 0");
        }

        function test_without_a_device_nothing_is_pinned() {
            open({ panel: true, text: "zebras graze" });
            ask("one two three");
            tryVerify(() => Bench.chat.messages.count === 2 && !Bench.chat.turn.busy);
            mouseMove(message(0), 20, 10);
            tryVerify(() => messagePart("copyButton", 0).visible);
            verify(!messagePart("pinButton", 0).visible);
        }
    }
}
