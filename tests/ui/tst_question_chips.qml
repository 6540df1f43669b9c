// Questions to begin with: the guide can answer them, so they stand there while it is open and nothing has been said.
import QtQuick
import QtTest
import Spillway.App
import Spillway.Tests
import Spillway.Ui

Item {
    width: 1024
    height: 640

    WindowCase {
        name: "QuestionChips"

        function openGuide() {
            makeWindow();
            Bench.openAtOnce(Bench.program.guide);
            tryVerify(() => Bench.models.current.known);
            tryCompare(part("questionChips"), "visible", true);
        }

        function test_a_click_asks() {
            openGuide();
            compare(part("questionChips").questions.length, 4);
            compare(Bench.namelessControls(shell).join(), "");
            click(part("question1"));
            tryVerify(() => Bench.chat.messages.count === 2);
            tryVerify(() => Bench.lastPrompt().indexOf("What happens when the VRAM is full?") >= 0);
            compare(part("composerField").text, "");
            tryCompare(part("questionChips"), "visible", false);
        }

        function test_the_keyboard_asks() {
            openGuide();
            compare(Bench.unreachable(shell).join("\n"), "");
            part("question0").forceActiveFocus(Qt.TabFocusReason);
            keyClick(Qt.Key_Return);
            tryVerify(() => Bench.chat.messages.count === 2);
        }

        function test_what_is_being_written_is_not_lost() {
            openGuide();
            tryCompare(part("composerField"), "activeFocus", true);
            type("my own");
            tryCompare(part("questionChips"), "visible", false);
            compare(part("composerField").text, "my own");
        }

        function test_other_models_get_none() {
            makeWindow();
            openModel();
            verify(part("readyState").visible && !part("questionChips").visible);
        }
    }
}
