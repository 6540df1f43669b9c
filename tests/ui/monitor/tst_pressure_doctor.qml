// Tests that the Doctor's card says what holds an answer back, changes it, and takes the change back.
import QtQuick
import Spillway.App
import Spillway.Tests
import ".."

Item {
    width: 1240
    height: 760

    PressureCase {
        name: "PressureDoctor"

        function test_the_doctor_says_what_holds_an_answer_back_and_changes_it() {
            open({ panel: true, text: "zebras graze", device: withDevice.device, shares: { deviceLayers: 0.2, link: 0.8 } });
            verify(!part("doctorSentence") || part("doctorSentence").text === "");
            ask("Why so slow?");
            tryVerify(() => part("doctorSentence") && part("doctorSentence").text.indexOf("80") >= 0);
            const button = part("doctorApply");
            tryCompare(button, "visible", true);
            reveal(button);
            click(button);
            tryVerify(() => lastCommand() === "policy 2", 5000, lastCommand());
            tryCompare(button, "visible", false); // the next answer says what it brought
            tryVerify(() => part("doctorResult").text !== "");
            tryVerify(() => !button.activeFocus);
            part("composerField").forceActiveFocus();
            ask("And now?");
            tryVerify(() => part("doctorResult").text.indexOf("before") > 0, 5000, part("doctorResult").text);
            click(part("doctorUndo"));
            tryVerify(() => lastCommand() === "policy 3", 5000, lastCommand());
            tryVerify(() => part("doctorResult").text === "");
        }

        // The first answer has it look for models; the next one is judged by those that are there.
        function test_the_doctor_suggests_a_draft_model() {
            const small = "half-small-with-a-name-that-has-no-room-in-one-line-of-the-panel.gguf";
            open({ panel: true, text: "zebras graze", shares: { prefill: 0.2, hostLayers: 1 } });
            Bench.putModels(["big.gguf", small]);
            Bench.openAtOnce(Bench.modelFolder("big.gguf").toString().replace("file://", ""));
            tryVerify(() => Bench.models.phase === ModelController.Idle && Bench.models.current.name === "big");
            ask("Why so slow, with such a lot of words to read before?");
            tryVerify(() => Bench.catalogue.scanned && !Bench.catalogue.scanning && Bench.catalogue.total > 1);
            verify(part("doctorApply").text.indexOf("guess") < 0);
            const button = part("doctorApply");
            tryVerify(() => {
                if (lastStatus() === MessageModel.Complete && !button.visible)
                    ask("And now, with such a lot of words to read before?");
                return button.visible;
            });
            verify(button.text.startsWith("Let “half-small"), button.text);
            verify(part("doctorSentence").text.indexOf("It is assumed that 50 to 75") > 0, part("doctorSentence").text);
            verify(part("doctorGain").text.startsWith("Expected: "), part("doctorGain").text);
            verify(part("doctorGain").text.endsWith("and reads the conversation anew."), part("doctorGain").text);
            verify(button.width <= part("doctorCard").width && button.contentItem.lineCount > 1);
            reveal(button);
            click(button);
            tryVerify(() => Bench.lastDraftModel().endsWith(small) && Bench.models.phase === ModelController.Idle);
            Bench.script({ shares: { prefill: 0.2, hostLayers: 0.5 } });
            part("composerField").forceActiveFocus();
            ask("How fast is it?");
            tryVerify(() => part("doctorResult").text.indexOf("10 tokens a second before, 20 after") > 0, 5000, part("doctorResult").text);
            click(part("doctorUndo"));
            tryVerify(() => Bench.lastDraftModel() === "" && Bench.models.phase === ModelController.Idle);
        }

        function test_without_guesses_no_draft_model_is_suggested() {
            open({ panel: true, text: "zebras graze", shares: { prefill: 0.2, hostLayers: 1 } });
            Bench.settings.draft.value = 1;
            Bench.putModels(["big.gguf", "half-small.gguf"]);
            Bench.catalogue.begin();
            tryVerify(() => Bench.catalogue.total > 1);
            Bench.openAtOnce(Bench.modelFolder("big.gguf").toString().replace("file://", ""));
            tryVerify(() => Bench.models.phase === ModelController.Idle && Bench.models.current.name === "big");
            for (let times = 0; times < 3; ++times) {
                ask("Why so slow, with such a lot of words to read before?");
                tryVerify(() => lastStatus() === MessageModel.Complete && part("doctorSentence").text !== "");
                wait(50);
            }
            verify(!part("doctorApply").visible);
        }

        function test_a_new_conversation_has_no_verdict() {
            open({ panel: true, text: "zebras graze", device: withDevice.device, shares: { deviceLayers: 0.2, link: 0.8 } });
            ask("Why so slow?");
            tryCompare(part("doctorCard"), "visible", true);
            keyClick(Qt.Key_N, Qt.ControlModifier);
            tryCompare(part("doctorCard"), "visible", false);
        }

        function test_a_doctors_button_that_goes_gives_the_keyboard_on() {
            open({ panel: true, text: "zebras graze", device: withDevice.device, shares: { deviceLayers: 0.2, link: 0.8 } });
            ask("Why so slow?");
            tryVerify(() => part("doctorApply").visible);
            part("doctorApply").forceActiveFocus(Qt.TabFocusReason);
            keyClick(Qt.Key_Return);
            tryCompare(part("doctorUndo"), "activeFocus", true);
            keyClick(Qt.Key_Return);
            tryCompare(part("doctorUndo"), "visible", false);
            tryVerify(() => !part("doctorUndo").activeFocus);
            verify(shell.Window.window.activeFocusItem.visible);
        }
    }
}
