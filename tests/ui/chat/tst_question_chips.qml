// Tests that the questions to begin with are shown while the guide, which can answer them, is open and nothing has been
// said.
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

        function test_each_line_is_in_the_middle() {
            openGuide();
            const chips = part("questionChips");
            const lines = new Map();
            tryVerify(() => {
                waitForRendering(chips); // in which they are laid out
                lines.clear();
                for (let i = 0; i < 4; ++i) {
                    const chip = part("question" + i);
                    lines.set(chip.y, (lines.get(chip.y) || []).concat([chip]));
                }
                const first = part("question0"); // nothing lies left of the chips once all have their places
                return lines.size > 1 && chips.height > 0 && first.x >= 0;
            });
            let bottom = 0;
            for (const line of lines.values()) {
                const last = line[line.length - 1];
                const right = chips.width - last.x - last.width;
                verify(Math.abs(line[0].x - right) <= 1, line[0].x + " and " + right);
                for (let i = 1; i < line.length; ++i)
                    verify(line[i].x >= line[i - 1].x + line[i - 1].width);
                verify(line[0].y >= bottom);
                bottom = line[0].y + line[0].height;
            }
            compare(chips.height, bottom);
        }

        function test_a_question_is_read_whole_at_large_text() {
            Theme.scale = 2;
            parent.width = 640;
            openGuide();
            const chips = part("questionChips");
            for (let i = 0; i < 4; ++i) {
                const chip = part("question" + i);
                tryVerify(() => chip.width > 0 && chip.width <= chips.width);
                verify(!chip.contentItem.truncated);
                verify(chip.contentItem.contentWidth <= chip.availableWidth && chip.contentItem.contentHeight <= chip.availableHeight);
            }
            Theme.scale = 1;
            parent.width = 1024;
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
