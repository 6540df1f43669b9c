// Tests where the pressure panel is shown, what it says, and what its handles do.
import QtQuick
import QtTest
import Spillway.App
import Spillway.Tests
import Spillway.Ui
import Spillway.Ui.Monitor
import Spillway.Ui.Theme
import ".."

Item {
    width: 1240
    height: 760

    PressureCase {
        name: "Pressure"

        // Returns which parts of an item hang out below it, and so lie over what follows; to this many levels down.
        function hanging(item, levels) {
            let found = [];
            for (let i = 0; i < item.children.length; ++i) {
                const child = item.children[i];
                if (!child.visible || child.height === 0)
                    continue;
                if (child.y + child.height > item.height + 1)
                    found.push(`${child} ${child.objectName}: ${child.y} + ${child.height} in ${item.height}`);
                if (levels > 1)
                    found = found.concat(hanging(child, levels - 1));
            }
            return found;
        }

        function test_what_came_while_it_was_hidden_has_its_room() {
            open({ panel: false, device: { layers: 12, total: 8.88e9, weights: 4.44e9, kv: 1.11e9 } });
            wait(100);
            keyClick(Qt.Key_M, Qt.ControlModifier | Qt.ShiftModifier);
            tryCompare(panel(), "visible", true);
            tryVerify(() => part("deviceChart").visible);
            tryVerify(() => hanging(part("panelGrid"), 4).length === 0);
            compare(hanging(part("panelGrid"), 4).join("\n"), "");
        }

        function test_is_there_and_can_be_hidden() {
            open();
            tryCompare(panel(), "visible", true);
            keyClick(Qt.Key_M, Qt.ControlModifier | Qt.ShiftModifier);
            tryCompare(panel(), "visible", false);
            compare(Bench.settings.panelShown.value, 0);
            click(part("panelButton"));
            tryCompare(panel(), "visible", true);
            click(part("panelClose"));
            tryCompare(panel(), "visible", false);
        }

        function test_what_is_said_moves_nothing() {
            open({ panel: true, text: "zebras graze", kvColumns: 5, device: withDevice.device, shares: { deviceLayers: 0.2, link: 0.8 } });
            const chart = part("deviceChart");
            tryVerify(() => chart.visible);
            const where = () => chart.mapToItem(panel(), 0, 0).y;
            const before = where();
            ask("Why so slow?");
            tryCompare(part("doctorCard"), "visible", true);
            compare(where(), before); // the Doctor's card moved nothing

            const map = part("kvMap");
            reveal(map);
            const height = part("panelView").contentHeight;
            mouseMove(map, 3, map.height / 2);
            tryVerify(() => part("kvMapCard").text !== "");
            compare(part("panelView").contentHeight, height); // nor did the card of a block
        }

        function test_a_dragged_budget_says_what_it_brings_and_moves_nothing() {
            open({ panel: true, text: "zebras graze", kvColumns: 5, device: withDevice.device });
            ask("Much?");
            const chart = part("deviceChart");
            tryVerify(() => chart.visible);
            wait(50);
            const height = part("panelView").contentHeight;
            const x = chart.width / 2;
            let y = 0;
            for (; y < chart.height / 2 && chart.draggedBudget === undefined; ++y) {
                mouseRelease(chart, x, y);
                mousePress(chart, x, y);
            }
            verify(chart.draggedBudget !== undefined, "there is no line");
            mouseMove(chart, x, y + 20);
            const card = findChild(chart.parent.parent, "readings");
            verify(card.visible);
            const said = chart.parent.parent.readings.map(line => line.name);
            verify(said[0].startsWith("Let go to choose"), said.join());
            compare(part("panelView").contentHeight, height);
            mouseRelease(chart, x, y + 20);
            compare(chart.draggedBudget, undefined);
        }

        function test_says_that_there_is_no_model() {
            makeWindow({ panel: true });
            tryCompare(part("panelEmpty"), "visible", true);
            verify(!part("topSplit").visible);
        }

        function test_without_a_device_it_shows_the_ram_and_no_split() {
            open({ panel: true, text: "zebras graze" });
            tryCompare(part("panelEmpty"), "visible", false);
            verify(!part("topSplit").visible);
            verify(!part("deviceChart").visible);
        }

        function test_shows_the_engines_numbers() {
            open();
            tryCompare(Bench.pressure.monitor.device, "weights", 4e9);
            tryVerify(() => part("deviceChart").visible);
            tryCompare(part("legend_weights").Accessible, "name", "Weights: 4\u00a0GB");
            tryCompare(part("kvMap"), "columns", 5);
            compare(findChild(part("topSplit"), "splitLabel").text, "12 of 16 layers");
            ask("a question");
            tryVerify(() => part("tileTtft").value !== "–");
        }

        function test_the_split_is_dragged() {
            open();
            const handle = slider("topSplit");
            tryCompare(handle, "value", 12);
            mousePress(handle, handle.width * 0.75, handle.height / 2);
            mouseMove(handle, handle.width * 0.3, handle.height / 2);
            const preview = part("previewTitle");
            tryVerify(() => preview.visible);
            verify(handle.value < 8);
            const chosen = handle.value;
            verify(preview.text.indexOf(String(chosen)) >= 0);
            compare(Bench.commands().length, 0); // nothing moves before it is let go
            mouseRelease(handle, handle.width * 0.3, handle.height / 2);
            tryVerify(() => lastCommand() === "layers " + chosen);
            tryVerify(() => findChild(part("topSplit"), "splitLabel").text === chosen + " of 16 layers");
        }

        // While an answer runs, Esc is for the choice first: it neither ends the answer nor lets layers move.
        function test_a_choice_that_waits_is_given_up() {
            open({ panel: true, tokens: 4000, tokenMs: 20, device: { layers: 12, total: 8e9, weights: 4e9, kv: 1e9 } });
            ask("hello");
            tryVerify(() => lastText() !== "");
            for (const handle of [slider("topSplit"), part("watermarkRowSlider")]) {
                const value = handle.value;
                handle.forceActiveFocus(Qt.TabFocusReason);
                keyClick(Qt.Key_Left);
                verify(handle.value < value);
                keyClick(Qt.Key_Escape);
                compare(handle.value, value);
                wait(handle.restMs + 50);
                compare(Bench.commands().length, 0);
                verify(Bench.chat.turn.busy);
            }
            keyClick(Qt.Key_Escape);
            tryVerify(() => !Bench.chat.turn.busy);
        }

        function test_the_split_by_the_keyboard() {
            open();
            const handle = slider("topSplit");
            tryCompare(handle, "value", 12);
            handle.forceActiveFocus(Qt.TabFocusReason);
            keyClick(Qt.Key_Left);
            keyClick(Qt.Key_Left);
            compare(handle.value, 10);
            compare(Bench.commands().length, 0);
            keyClick(Qt.Key_Return);
            tryVerify(() => lastCommand() === "layers 10");
            keyClick(Qt.Key_Right); // or when it has come to rest
            tryVerify(() => lastCommand() === "layers 11");
            click(findChild(part("topSplit"), "splitAuto"));
            tryVerify(() => lastCommand() === "layers auto");
            tryCompare(handle, "value", 16);
        }

        function test_choices_are_commands() {
            open();
            reveal(part("policyBox"));
            part("policyBox").activated(1);
            tryVerify(() => lastCommand() === "policy 1");
            reveal(part("kvTypeBox"));
            part("kvTypeBox").activated(1);
            tryVerify(() => lastCommand() === "types 2 2", 5000, lastCommand());
            for (const [row, command] of [["watermarkRow", "watermark 0.94"], ["offloadRow", "offload 0.01"]]) {
                const handle = part(row + "Slider");
                reveal(handle);
                handle.forceActiveFocus(Qt.TabFocusReason);
                keyClick(row === "watermarkRow" ? Qt.Key_Left : Qt.Key_Right);
                keyClick(Qt.Key_Return);
                tryVerify(() => lastCommand() === command, 5000, lastCommand());
            }
        }

        function test_a_budget_of_nothing_is_not_all_there_is() {
            open();
            const handle = part("budgetRowSlider");
            reveal(handle);
            mousePress(handle, handle.width / 2, handle.height / 2);
            mouseMove(handle, 0, handle.height / 2);
            compare(handle.value, 0);
            mouseRelease(handle, 0, handle.height / 2);
            tryVerify(() => lastCommand() === "budget 1", 5000, lastCommand());
        }

        // A step of a long prompt takes seconds, and nothing is carried out before its end.
        function test_sliders_stay_until_the_engine_has_heard_of_it() {
            open();
            const placement = Bench.pressure.placement;
            const budget = part("budgetRowSlider"), split = slider("panelSplit");
            tryCompare(split, "value", 12);
            Bench.script({ inLongStep: true });
            reveal(split);
            split.forceActiveFocus(Qt.TabFocusReason);
            keyClick(Qt.Key_Left);
            keyClick(Qt.Key_Return);
            reveal(budget);
            mousePress(budget, budget.width / 2, budget.height / 2);
            mouseRelease(budget, budget.width / 2, budget.height / 2);
            const chosen = budget.value;
            verify(chosen < 6e9, chosen);
            wait(600);
            verify(placement.asking);
            compare(placement.budgetBytes, 8e9);
            compare(budget.value, chosen);
            compare(split.value, 11);
            compare(findChild(part("panelSplit"), "splitLabel").text, "11 of 16 layers");
            Bench.script({ inLongStep: false });
            placement.setWatermark(0.9); // the next step
            tryCompare(placement, "asking", false);
            compare(split.value, 11);
            compare(budget.value, chosen);
            tryCompare(placement, "budgetBytes", Math.floor(chosen));
            tryCompare(placement, "deviceLayers", 11);
            tryCompare(budget, "value", Math.floor(chosen));
        }

        function test_a_choice_is_taken_back_before_the_engine_has_heard_of_it() {
            open();
            const placement = Bench.pressure.placement, split = slider("panelSplit");
            tryCompare(split, "value", 12);
            Bench.script({ inLongStep: true });
            reveal(split);
            split.forceActiveFocus(Qt.TabFocusReason);
            keyClick(Qt.Key_Left);
            keyClick(Qt.Key_Return);
            keyClick(Qt.Key_Right);
            keyClick(Qt.Key_Return);
            Bench.script({ inLongStep: false });
            placement.setWatermark(0.9); // the next step
            tryCompare(placement, "asking", false);
            wait(600);
            compare(placement.wantedLayers, 12);
            compare(split.value, 12);
        }

        function test_what_a_gpu_does_not_count_is_not_said() {
            open({ panel: true, text: "zebras graze", expertMap: { layers: 4, experts: 16, gpu: true }, device: withExperts.device });
            const map = part("expertMap");
            tryCompare(map, "layers", 3);
            tryCompare(part("expertsNotCounted"), "visible", true);
            reveal(map);
            map.forceActiveFocus(Qt.TabFocusReason);
            keyClick(Qt.Key_Home);
            for (let i = 0; i < 3; ++i)
                keyClick(Qt.Key_Down);
            compare(part("expertMapCard").text, "Layer 3, expert 0: on the device\nA GPU does not say how often it was chosen there");
        }

        function test_room_for_another_program() {
            open();
            const placement = Bench.pressure.placement;
            tryVerify(() => placement.available);
            const button = part("yieldButton");
            reveal(button);
            compare(button.text, "Shrink to 4\u00a0GB"); // half, until somebody chooses
            const handle = part("yieldRowSlider");
            handle.forceActiveFocus(Qt.TabFocusReason);
            for (let i = 0; i < 25; ++i)
                keyClick(Qt.Key_Left);
            keyClick(Qt.Key_Return);
            tryCompare(button, "text", "Shrink to 2\u00a0GB");
            compare(Bench.commands().length, 0); // a size is chosen; nothing has moved
            click(button);
            tryVerify(() => lastCommand() === "budget 2000000000", 5000, lastCommand());
            tryVerify(() => placement.yielding);
            tryCompare(button, "text", "Grow back");
            handle.forceActiveFocus(Qt.TabFocusReason);
            keyClick(Qt.Key_Right); // another size, while it is shrunk
            keyClick(Qt.Key_Return);
            tryVerify(() => lastCommand() === "budget 2080000000", 5000, lastCommand());
            verify(placement.yielding);
            keyClick(Qt.Key_Y, Qt.ControlModifier | Qt.ShiftModifier); // takes it back
            tryVerify(() => lastCommand() === "budget 0", 5000, lastCommand());
            verify(!placement.yielding);
            keyClick(Qt.Key_Y, Qt.ControlModifier | Qt.ShiftModifier);
            tryVerify(() => lastCommand() === "budget 2080000000", 5000, lastCommand());
        }

        function test_a_series_is_hidden() {
            open();
            const chart = part("deviceChart");
            tryVerify(() => chart.visible);
            click(part("legend_kv"));
            compare(chart.hidden.length, 1);
            click(part("legend_kv"));
            compare(chart.hidden.length, 0);
        }

        function test_guesses_have_a_chart_where_there_are_any() {
            open();
            ask("hello");
            tryVerify(() => !Bench.chat.turn.busy);
            const chart = part("guessChart");
            verify(!chart.visible);
            Bench.script({ drafted: 64 });
            ask("again");
            tryVerify(() => !Bench.chat.turn.busy);
            tryCompare(chart, "visible", true);
            compare(chart.drafted, 64);
            compare(chart.accepted, 32);
            verify(part("guessWords").text.indexOf("32 of 64 guessed tokens were right") === 0, part("guessWords").text);
            verify(part("guessWords").text.indexOf("own file") < 0);
            Bench.script({ byBlock: true });
            ask("once more");
            tryVerify(() => !Bench.chat.turn.busy);
            tryVerify(() => part("guessWords").text.indexOf("own file, which takes %1 of memory, guessed 64 of them, and 32 were right.".arg(Format.bytes(3e6))) > 0);
        }

        function test_a_chart_of_nothing_says_so() {
            open();
            const chart = part("speedChart");
            const words = findChild(chart.parent.parent, "emptyText");
            reveal(chart);
            tryCompare(words, "visible", true);
            compare(chart.parent.parent.Accessible.description, words.text);
            Bench.script({ tokens: 40 });
            ask("hello");
            tryVerify(() => !Bench.chat.turn.busy);
            tryCompare(words, "visible", false);
            verify(chart.parent.parent.Accessible.description !== words.text);
        }

        function test_charts_by_the_keyboard() {
            open();
            const chart = part("speedChart");
            ask("a question");
            tryVerify(() => !Bench.chat.turn.busy);
            chart.parent.parent.forceActiveFocus(Qt.TabFocusReason);
            keyClick(Qt.Key_Plus);
            tryCompare(chart, "zoomed", true);
            keyClick(Qt.Key_Home);
            tryCompare(chart, "zoomed", false);
        }

        function test_what_moved_is_listed() {
            open();
            ask("a question");
            tryVerify(() => Bench.chat.messages.count === 2 && !Bench.chat.turn.busy);
            Bench.move(256, 511);
            tryCompare(Bench.pressure.events, "count", 1);
            reveal(part("eventList"));
            tryVerify(() => part("eventList").itemAtIndex(0));
            const row = part("eventList").itemAtIndex(0);
            verify(row.Accessible.name.indexOf("256") >= 0);
            verify(row.Accessible.name.indexOf("zebras") >= 0, row.Accessible.name); // the answer's tokens
            mouseMove(row, row.width / 2, row.height / 2);
            tryCompare(Bench.chat.lit, "message", message(1).messageId);
            mouseMove(panel(), 5, 5);
            tryCompare(Bench.chat.lit, "message", "");
            part("eventList").forceActiveFocus(Qt.TabFocusReason);
            keyClick(Qt.Key_Down);
            tryCompare(Bench.chat.lit, "message", message(1).messageId);
            part("composerField").forceActiveFocus();
            tryCompare(Bench.chat.lit, "message", "");
            part("eventFilter").activated(2); // fetches
            tryCompare(part("eventList"), "count", 0);
            part("eventFilter").activated(0);
            tryCompare(part("eventList"), "count", 1);
            click(part("copyEvents"));
            verify(Bench.clipboard().indexOf("256,511") > 0);
        }

        function test_what_was_measured_stays_with_its_conversation() {
            open();
            ask("a question");
            tryVerify(() => Bench.chat.messages.count === 2 && !Bench.chat.turn.busy);
            Bench.move(256, 511);
            tryCompare(Bench.pressure.events, "count", 1);
            const first = Bench.chat.conversationId;
            Bench.chat.newConversation();
            tryCompare(Bench.pressure.events, "count", 0);
            verify(!part("earlierNote").visible);
            ask("another one");
            tryVerify(() => Bench.chat.messages.count === 2 && !Bench.chat.turn.busy);
            verify(Bench.chat.open(first));
            tryCompare(part("earlierNote"), "visible", true);
            tryCompare(Bench.pressure.events, "count", 1);
            tryVerify(() => part("tileTtft").value !== "–");
            ask("and on");
            tryVerify(() => Bench.chat.messages.count === 4 && !Bench.chat.turn.busy);
            tryCompare(part("earlierNote"), "visible", false);
            tryCompare(Bench.pressure.events, "count", 1);
        }

        // The panel is narrow; all of a row is read all the same.
        function test_a_row_of_what_moved_is_read_whole() {
            makeWindow(withDevice);
            const row = eventRow.createObject(shell, { width: 300 });
            row.title = "Layer 32 to the device";
            const title = findChild(row, "eventTitle"), detail = findChild(row, "eventDetail");
            compare(title.text, "Layer 32 to the device");
            verify(!title.truncated && !detail.visible);
            row.title = "KV auf die Platte gesichert";
            row.last = 25000;
            row.first = 0;
            tryVerify(() => title.lineCount === 2);
            verify(!title.truncated && title.contentWidth <= title.width);
            row.first = -1;
            const low = row.implicitHeight;
            row.title = "Device changed";
            row.detail = "the model lies on the emulated device now, and no longer on cuda:0, whose driver has gone";
            tryVerify(() => detail.lineCount > 1);
            verify(!title.truncated && !detail.truncated);
            tryVerify(() => row.implicitHeight >= low + detail.height);
            verify(row.Accessible.name.indexOf(row.detail) > 0);
        }
        function test_only_what_went_wrong_has_the_colour_of_danger() {
            const wrong = [3, 5]; // a lost device, a warning
            for (let kind = 0; kind <= 8; ++kind) {
                const row = createTemporaryObject(eventRow, parent, { kind: kind });
                compare(Qt.colorEqual(row.ink, Theme.danger), wrong.includes(kind), kind);
            }
        }
        Component {
            id: eventRow

            EventRow {
                time: new Date()
                kind: 2
                title: ""
                detail: ""
                causeName: "layer split"
                blocks: 3
                bytes: 4e6
                us: 1200
                first: -1
                last: -1
                message: ""
                messageId: ""
                messageCount: 0
            }
        }

        // The window is too narrow for names beside what is done, and a dash without one says nothing.
        function test_no_number_is_a_bare_dash() {
            makeWindow({ prefillMs: 1500, panel: true });
            openModel();
            ask("go");
            tryVerify(() => Bench.chat.turn.state === ChatTurn.Reading && part("phase").text !== "");
            verify(part("ttft").brief);
            verify(!part("ttft").visible && !part("tps").visible);
            tryVerify(() => !Bench.chat.turn.busy);
            tryVerify(() => part("ttft").visible && part("ttft").value !== Format.unknown);
        }

        // An answer of bytes that are no text takes more tokens when it is read again than the context holds.
        function test_the_context_is_never_more_than_full() {
            makeWindow({ context: 100 });
            openModel();
            const meter = part("contextMeter");
            meter.tokens = 731;
            compare(findChild(meter, "contextText").text, "100 / 100");
            verify(meter.full && meter.Accessible.name.indexOf("731") < 0);
        }

        function test_another_conversation_that_is_answered_is_named() {
            open();
            ask("the first one");
            tryVerify(() => Bench.chat.messages.count === 2 && !Bench.chat.turn.busy);
            const first = Bench.chat.conversationId;
            tryVerify(() => part("tileTtft").value !== "–");
            const waited = part("tileTtft").value;
            verify(!part("elsewhereNote").visible);
            Bench.script({ tokens: 2000, tokenMs: 20, prefillMs: 300 });
            Bench.chat.newConversation();
            ask("a second one");
            tryVerify(() => Bench.chat.turn.state === ChatTurn.Answering);
            const second = Bench.chat.conversationId;
            verify(!part("elsewhereNote").visible);
            verify(Bench.chat.open(first));
            tryCompare(part("elsewhereNote"), "visible", true);
            verify(!part("earlierNote").visible);
            verify(part("elsewhereNote").sentence.indexOf("“a second one” is being answered.") === 0, part("elsewhereNote").sentence);
            // Numbers are of the one that is looked at, however the other goes on.
            tryCompare(part("tileTtft"), "value", waited);
            wait(300);
            compare(part("tileTtft").value, waited);
            verify(Bench.pressure.monitor.ofAnother);
            compare(Bench.unreachable(panel()).join("\n"), "");

            shell.show(PageName.Log);
            reveal(part("elsewhereNote")); // the keyboard has been all over the panel
            click(seen(part("elsewhereNote"), "noteAction"));
            compare(Bench.chat.conversationId, second);
            compare(part("chatPage").visible, true);
            tryCompare(part("elsewhereNote"), "visible", false);
            verify(!Bench.pressure.monitor.ofAnother);
            Bench.chat.turn.stop();
            tryVerify(() => !Bench.chat.turn.busy);
            verify(Bench.chat.open(first));
            tryCompare(part("earlierNote"), "visible", true); // and again it is what was kept
            verify(!part("elsewhereNote").visible);
        }

        function test_two_conversations_are_answered_while_layers_move() {
            open({ panel: true, tokens: 4000, tokenMs: 10, kvColumns: 5, device: withDevice.device });
            ask("what is %2 in %1"); // of which nothing is a marker to fill
            tryVerify(() => Bench.chat.turn.state === ChatTurn.Answering);
            const first = Bench.chat.conversationId;
            verify(!part("elsewhereNote").visible);
            Bench.chat.newConversation();
            ask("a second one");
            tryVerify(() => Bench.chat.turn.state === ChatTurn.Answering); // and does not wait
            const second = Bench.chat.conversationId;
            verify(!Bench.pressure.monitor.ofAnother);
            tryCompare(part("elsewhereNote"), "visible", true);
            tryVerify(() => part("elsewhereNote").sentence.indexOf("tok/s") > 0);
            compare(part("elsewhereNote").sentence.indexOf("“what is %2 in %1” is being answered. "), 0);

            const handle = slider("topSplit");
            tryCompare(handle, "value", 12);
            handle.forceActiveFocus(Qt.TabFocusReason);
            for (const layers of [7, 10]) {
                const before = lastText().length;
                while (handle.value !== layers)
                    keyClick(layers < handle.value ? Qt.Key_Left : Qt.Key_Right);
                keyClick(Qt.Key_Return);
                tryVerify(() => lastCommand() === "layers " + layers);
                tryVerify(() => lastText().length > before);
            }
            // The panel is of the one that is looked at, whichever that is.
            const shown = () => Bench.pressure.monitor.contextTokens;
            verify(Bench.chat.open(first));
            tryVerify(() => shown() === Bench.chat.telemetry.contextTokens && Bench.chat.turn.state === ChatTurn.Answering);
            verify(!Bench.pressure.monitor.ofAnother);
            const length = lastText().length;
            tryVerify(() => lastText().length > length);
            compare(part("elsewhereNote").sentence.indexOf("“a second one” is being answered."), 0);

            // One stops, and the other goes on.
            Bench.chat.turn.stop();
            tryVerify(() => !Bench.chat.turn.busy);
            tryVerify(() => Bench.pressure.monitor.ofAnother);
            verify(Bench.chat.open(second));
            compare(Bench.chat.turn.state, ChatTurn.Answering);
            tryCompare(part("elsewhereNote"), "visible", false);
            verify(!Bench.pressure.monitor.ofAnother);
        }

        function test_folds() {
            open();
            const view = part("panelView");
            tryVerify(() => view.contentHeight > 600);
            const before = view.contentHeight;
            const heads = Bench.controls(panel()).filter(name => name.indexOf("Fold: ") >= 0);
            verify(heads.length >= 4, heads.join(", "));
            compare(Bench.namelessControls(panel()).length, 0, Bench.namelessControls(panel()).join(", "));
            verify(before > 0);
            const lost = Bench.unreachable(panel());
            compare(lost.length, 0, lost.join(", "));
        }

        function test_a_window_of_its_own() {
            open();
            click(part("panelApart"));
            compare(Bench.settings.panelShown.value, 2);
            tryCompare(panel(), "visible", false);
            const apart = () => findChild(shell, "panelWindow").item;
            tryVerify(() => apart() && apart().visible);
            const grid = seen(apart().contentItem, "panelGrid");
            wait(100); // the panel's layout looks twice
            tryVerify(() => hanging(grid, 4).length === 0);
            compare(hanging(grid, 4).join("\n"), "");
            apart().width = 500;
            tryCompare(grid, "columns", 1);
            apart().width = 1100;
            tryCompare(grid, "columns", 2);
            const charts = ["deviceChart", "kvMap"].map(name => seen(apart().contentItem, name));
            tryVerify(() => charts[0].width > 300 && charts[0].width <= 550); // beside each other
            click(part("panelButton"));
            compare(Bench.settings.panelShown.value, 0);
            shell.Window.window.requestActivate();
            tryVerify(() => shell.Window.active);
        }

        function test_the_programs_keys_work_in_a_window_of_its_own() {
            open();
            click(part("panelApart"));
            const apart = () => findChild(shell, "panelWindow").item;
            tryVerify(() => apart() && apart().visible);
            apart().requestActivate();
            tryVerify(() => apart().active);
            const percent = Bench.settings.fontPercent.value;
            keyClick(Qt.Key_Plus, Qt.ControlModifier);
            compare(Bench.settings.fontPercent.value, percent + 10);
            keyClick(Qt.Key_0, Qt.ControlModifier);
            compare(Bench.settings.fontPercent.value, percent);
            const table = part("windowShortcuts").table;
            const everywhere = [];
            for (let i = 0; i < table.rowCount(); ++i) {
                if (table.data(table.index(i, 0), ShortcutModel.InAllWindowsRole))
                    everywhere.push(table.data(table.index(i, 0), ShortcutModel.ActionRole));
            }
            verify(everywhere.includes("quit"), everywhere.join(" ")); // not pressed: it would end this test
            verify(!everywhere.includes("newConversation"));
            keyClick(Qt.Key_M, Qt.ControlModifier | Qt.ShiftModifier);
            compare(Bench.settings.panelShown.value, 0);
            shell.Window.window.requestActivate();
            tryVerify(() => shell.Window.active);
        }
    }
}
