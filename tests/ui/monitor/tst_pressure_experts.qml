// Tests that the pressure panel shows where the experts of a mixture lie, and that its handles move them.
import QtQuick
import Spillway.App
import Spillway.Tests
import ".."

Item {
    width: 1240
    height: 760

    PressureCase {
        name: "PressureExperts"

        // The shares are those of a GPU: an emulated device computes with the host's cores, which read such experts
        // where they are.
        function test_the_doctor_speaks_of_experts_in_ram() {
            open({ panel: true, text: "zebras graze", shares: { deviceLayers: 0.3, hostLayers: 0.7 },
                device: { layers: 16, experts: 16, hostExperts: 7, total: 8e9, weights: 4e9, kv: 1e9 } });
            ask("Why so slow?");
            tryVerify(() => part("doctorSentence") && part("doctorSentence").text !== "");
            verify(part("doctorSentence").text.indexOf("the CPU computes experts of 7 layer") > 0, part("doctorSentence").text);
            verify(part("doctorSentence").text.indexOf("70") > 0);
        }

        function test_experts_have_a_handle() {
            open({ panel: true, text: "zebras graze", kvColumns: 5,
                   device: { layers: 12, experts: 16, total: 8e9, weights: 4e9, kv: 1e9 } });
            const handle = part("expertsRowSlider");
            tryVerify(() => handle.visible);
            reveal(handle);
            compare(handle.Accessible.name, "Experts kept in RAM: none");
            handle.forceActiveFocus(Qt.TabFocusReason);
            keyClick(Qt.Key_Right);
            keyClick(Qt.Key_Right);
            keyClick(Qt.Key_Return);
            tryVerify(() => lastCommand() === "experts 2", 5000, lastCommand());
            tryCompare(Bench.pressure.placement.experts, "automatic", false);
            compare(handle.Accessible.name, "Experts kept in RAM: of 2 layer(s)");
            click(part("expertsAuto"));
            tryVerify(() => lastCommand() === "experts auto");
            tryCompare(handle, "value", 0);
        }

        // The slider goes by layers, some of which have no experts.
        function test_only_layers_with_experts_are_counted() {
            open({ panel: true, text: "zebras graze", kvColumns: 5,
                   device: { layers: 12, experts: 13, total: 8e9, weights: 4e9, kv: 1e9 } });
            const row = part("expertsChoice");
            tryVerify(() => row.visible);
            compare(row.inWords(5, { known: true, hostExperts: 2 }), "of 2 layer(s)");
            compare(row.inWords(3, { known: true, hostExperts: 0 }), "none");
            compare(row.inWords(5, { known: false, hostExperts: 0 }), "of 5 layer(s)");
            compare(row.inWords(0, { known: true, hostExperts: 2 }), "none"); // what is planned otherwise
            compare(row.inWords(Bench.pressure.placement.layers, { known: true, hostExperts: 13 }), "of all layers");
        }

        function test_experts_are_shown_where_they_are() {
            open(withExperts);
            const map = part("expertMap");
            tryCompare(map, "layers", 3); // the first layer has none
            tryVerify(() => seen(part("panelGrid"), "legend_experts"));
            compare(part("legend_experts").Accessible.name, "Copies of experts: 1\u00a0GB");
            compare(part("legend_weights").Accessible.name, "Weights: 4\u00a0GB");
            compare(part("legend_expertsOnHost").Accessible.name, "RAM: 24");
            compare(part("legend_expertsCopied").Accessible.name, "Copy on the device: 8");
            compare(part("legend_expertsOnDevice").Accessible.name, "Device: 16");
            compare(map.Accessible.name, "Expert map: 32 experts in RAM, 8 of them with a copy on the device, 16 on the device");
            verify(!part("expertsNotCounted").visible);
            verify(part("hitRateChart").visible);

            reveal(map);
            const card = part("expertMapCard"), height = part("panelView").contentHeight;
            let y = 3;
            tryVerify(() => {
                mouseMove(map, map.width * 2.5 / 16, y ^= 1); // until the picture has been made
                return card.text === "Layer 1, expert 2: in RAM, with a copy on the device\n"
                    + "Chosen in this answer: 2 (13.3\u00a0% of its layer's choices)\n"
                    + "In this conversation: 20 (1.67\u00a0% of its layer's choices)";
            }, 5000, card.text);
            verify(card.visible);
            compare(part("panelView").contentHeight, height);
            mouseMove(panel(), 5, 5);
            tryCompare(card, "text", "");

            compare(map.span, ExpertMapItem.Answer);
            part("expertSpan").forceActiveFocus(Qt.TabFocusReason);
            keyClick(Qt.Key_Right);
            compare(map.span, ExpertMapItem.Conversation);
            compare(part("expertSpan").Accessible.name, "How often experts were chosen: In this conversation");
        }

        function test_experts_by_the_keyboard() {
            open(withExperts);
            const map = part("expertMap"), card = part("expertMapCard");
            tryCompare(map, "layers", 3);
            reveal(map);
            part("expertSpan").forceActiveFocus(Qt.TabFocusReason);
            keyClick(Qt.Key_Tab);
            verify(map.activeFocus);
            compare(card.text, "");
            keyClick(Qt.Key_Right);
            verify(card.text.startsWith("Layer 1, expert 0: in RAM, with a copy on the device\n"), card.text);
            keyClick(Qt.Key_Right);
            verify(card.text.startsWith("Layer 1, expert 1:"), card.text);
            keyClick(Qt.Key_End);
            verify(card.text.startsWith("Layer 1, expert 15: in RAM\n"), card.text);
            keyClick(Qt.Key_Down);
            keyClick(Qt.Key_Down);
            keyClick(Qt.Key_Down); // there is none below
            verify(card.text.startsWith("Layer 3, expert 15: on the device\n"), card.text);
            compare(map.Accessible.description, card.text);
            keyClick(Qt.Key_Home);
            keyClick(Qt.Key_Up);
            verify(card.text.startsWith("Layer 2, expert 0: in RAM\n"), card.text);
            keyClick(Qt.Key_Tab);
            verify(!map.activeFocus);
            compare(card.text, "");
        }

        function test_without_experts_nothing_is_said_of_them() {
            open();
            tryVerify(() => part("deviceChart").visible);
            tryCompare(part("kvMap"), "columns", 5);
            verify(!part("expertMap").visible);
            verify(!part("hitRateChart").visible);
            verify(!seen(part("panelGrid"), "legend_experts"));
        }

        function test_room_for_copies_has_a_handle() {
            open(withExperts);
            const handle = part("copiesRowSlider");
            tryVerify(() => handle.visible);
            reveal(handle);
            compare(handle.Accessible.name, "Room for copies of experts: none");
            compare(part("copiesNow").text, "8 expert(s) of each layer, 1\u00a0GB");
            handle.forceActiveFocus(Qt.TabFocusReason);
            keyClick(Qt.Key_Right);
            keyClick(Qt.Key_Right);
            keyClick(Qt.Key_Return);
            tryVerify(() => lastCommand() === "copies 160000000", 5000, lastCommand());
            compare(Bench.pressure.placement.experts.roomForCopies, 1.6e8);
            tryCompare(handle.Accessible, "name", "Room for copies of experts: 160\u00a0MB");
        }

        function test_room_for_copies_is_chosen_by_itself() {
            open(withExperts);
            const button = part("copiesAuto");
            tryVerify(() => button.visible);
            reveal(button);
            compare(button.Accessible.name, "As many copies as save most time");
            click(button);
            tryVerify(() => lastCommand() === "copies auto", 5000, lastCommand());
            tryVerify(() => Bench.pressure.placement.experts.copiesAutomatic);
            compare(button.Accessible.name, "As many copies as save most time: chosen");
            // The slider shows the room that the engine chose, which is a quarter of the device here.
            tryCompare(part("copiesRowSlider").Accessible, "name", "Room for copies of experts: 2\u00a0GB");
            const why = part("copiesReason");
            verify(!why.visible); // the open model has no file, so nothing is known of its experts
            compare(why.sentence({ known: true, expertBytes: 3.1e9, expertsSaveMs: 9.3, kvWouldSaveMs: undefined }),
                    "3.1\u00a0GB of experts save 9.3\u00a0ms a token; all KV lies beside them");
            compare(why.sentence({ known: true, expertBytes: 3.1e9, expertsSaveMs: 9.3, kvWouldSaveMs: 2 }),
                    "3.1\u00a0GB of experts save 9.3\u00a0ms a token; KV in their place would save 2\u00a0ms");
            compare(why.sentence({ known: true, expertBytes: 3.1e9, expertsSaveMs: undefined, kvWouldSaveMs: undefined }),
                    "3.1\u00a0GB of experts have what room KV leaves: this machine's speed is not measured");
            compare(why.sentence({ known: true, expertBytes: 0, expertsSaveMs: 0, kvWouldSaveMs: undefined }), "");
        }

        function test_without_experts_in_ram_there_is_no_room_for_copies() {
            open({ panel: true, text: "zebras graze", device: { layers: 12, experts: 16, total: 8e9, weights: 4e9 } });
            tryVerify(() => part("expertsRow").visible);
            verify(!part("copiesRow").visible);
        }

        function test_a_model_without_experts_has_no_such_handle() {
            open();
            tryVerify(() => Bench.pressure.placement.available);
            verify(!part("expertsRow").visible);
        }
    }
}
