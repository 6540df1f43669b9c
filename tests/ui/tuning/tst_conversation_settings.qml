// Tests the panel of the conversation's settings, by keys and mouse, and that the engine is asked with what it shows.
import QtQuick
import QtTest
import Spillway.Tests
import ".."

Item {
    width: 1024
    height: 640

    WindowCase {
        name: "ConversationSettings"

        function open() {
            keyClick(Qt.Key_Period, Qt.ControlModifier);
            tryCompare(part("closeSettings"), "activeFocus", true);
        }
        function write(field, text) {
            const item = part(field);
            item.forceActiveFocus(Qt.TabFocusReason);
            item.selectAll();
            type(text);
            keyClick(Qt.Key_Return);
        }

        function test_opens_and_closes_by_key_and_button() {
            makeWindow();
            openModel();
            open();
            keyClick(Qt.Key_Escape);
            tryCompare(part("composerField"), "activeFocus", true);
            click(part("conversationSettingsButton"));
            tryCompare(part("closeSettings"), "activeFocus", true);
            click(part("closeSettings"));
            tryCompare(part("composerField"), "activeFocus", true);
        }

        function test_the_engine_is_asked_with_what_is_set() {
            makeWindow({ arguments: ["enable_thinking"] });
            openModel();
            open();
            part("systemPrompt").forceActiveFocus(Qt.TabFocusReason);
            type("Be brief.");
            write("temperatureField", "0.25");
            write("top_kField", "7");
            write("max_tokensField", "12");
            write("seedField", "42");
            const thinking = part("enable_thinkingChoice");
            thinking.forceActiveFocus(Qt.TabFocusReason);
            keyClick(Qt.Key_Right);
            keyClick(Qt.Key_Right);
            keyClick(Qt.Key_Escape);
            tryCompare(part("composerField"), "activeFocus", true);
            ask("hello");
            tryVerify(() => !Bench.chat.turn.busy && Bench.requestCount() === 1);
            const asked = Bench.lastRequest();
            compare(asked.system, "Be brief.");
            compare(asked.temperature, 0.25);
            compare(asked.topK, 7);
            compare(asked.maxTokens, 12);
            compare(asked.seed, 42);
            compare(asked.arguments, "{\"enable_thinking\":false}");
        }

        function test_a_wrong_number_gets_a_sentence_and_changes_nothing() {
            makeWindow();
            openModel();
            open();
            write("temperatureField", "hot");
            compare(part("temperatureRefusal").text, "Temperature is a number from 0 to 5.");
            verify(part("temperatureField").wrong);
            compare(Bench.conversationSettings.changedCount, 0);
            write("temperatureField", "1");
            compare(part("temperatureRefusal").text, "");
            compare(Bench.conversationSettings.changedCount, 1);
        }

        function test_changes_are_marked_and_can_be_taken_back() {
            makeWindow();
            openModel();
            open();
            const slider = part("temperatureSlider");
            slider.forceActiveFocus(Qt.TabFocusReason);
            keyClick(Qt.Key_Right);
            compare(part("temperatureField").text, "0.85");
            compare(Bench.conversationSettings.changedCount, 1);
            part("resetAll").forceActiveFocus(Qt.TabFocusReason); // it is further down
            keyClick(Qt.Key_Space);
            tryCompare(Bench.conversationSettings, "changedCount", 0);
            compare(part("temperatureField").text, "0.8");
            compare(slider.value, 0.8);
        }

        function test_the_view_follows_the_keyboard() {
            makeWindow();
            openModel();
            open();
            part("seedField").forceActiveFocus(Qt.TabFocusReason);
            const view = part("settingsView");
            tryVerify(() => {
                const y = part("seedField").mapToItem(view, 0, 0).y;
                return y >= 0 && y + part("seedField").height <= view.height;
            });
        }

        function test_presets() {
            makeWindow();
            openModel();
            open();
            compare(part("preset1").Accessible.description, "Stays with the likeliest words: facts, code, summaries.");
            click(part("preset1"));
            compare(part("temperatureField").text, "0.2");
            write("temperatureField", "0.3");
            verify(Bench.conversationSettings.presetChanged);
            click(part("savePreset"));
            tryCompare(part("presetName"), "activeFocus", true);
            type("precise");
            keyClick(Qt.Key_Return);
            compare(part("presetRefusal").text, "“precise” is built in; choose another name.");
            part("presetName").selectAll();
            type("Mine");
            keyClick(Qt.Key_Return);
            tryCompare(part("savePreset"), "activeFocus", true);
            compare(part("preset3").text, "Mine");
            verify(part("preset3").current);
            click(part("renamePreset"));
            tryCompare(part("presetName"), "activeFocus", true);
            type("Ours");
            keyClick(Qt.Key_Return);
            tryCompare(part("savePreset"), "activeFocus", true);
            compare(part("preset3").text, "Ours");
            click(part("savePreset"));
            part("presetName").selectAll();
            type("Theirs");
            keyClick(Qt.Key_Return);
            tryCompare(part("savePreset"), "activeFocus", true);
            click(part("renamePreset"));
            click(part("preset3")); // which is not what is being renamed
            verify(!findChild(shell, "presetName").visible);
            click(part("removePreset")); // its settings stay, so nothing is asked
            click(part("preset3"));
            write("temperatureField", "0.7");
            click(part("removePreset"));
            tryVerify(() => part("confirmRemovePreset").opened);
            compare(Bench.conversationSettings.presets.count, 4);
            click(seen(part("confirmRemovePreset").contentItem, "confirmAccept"));
            tryCompare(Bench.conversationSettings.presets, "count", 3);
        }

        function test_a_text_that_was_reset_follows_again() {
            makeWindow({ arguments: ["own_thing"] });
            openModel();
            open();
            write("own_thingField", "a");
            click(findChild(part("own_thingField").parent, "resetButton"));
            compare(part("own_thingField").text, "");
            Bench.conversationSettings.templateArguments.setText(0, "b"); // as a preset does
            tryCompare(part("own_thingField"), "text", "b");
        }

        function test_every_control_has_a_name_and_is_reached_by_tab() {
            makeWindow({ arguments: ["enable_thinking", "own_thing"] });
            openModel();
            open();
            click(part("preset0"));
            const seen = [];
            for (let i = 0; i < 60; ++i) {
                seen.push(Bench.focusName(shell));
                keyClick(Qt.Key_Tab);
            }
            verify(!Bench.conversationSettings.presetChanged);
            for (const name of ["closeSettings", "preset0", "savePreset", "systemPrompt", "enable_thinkingChoice",
                                "own_thingField", "temperatureField", "temperatureSlider", "seedField"])
                verify(seen.includes(name), name + " is not reached: " + seen.join(" "));
        }
    }
}
