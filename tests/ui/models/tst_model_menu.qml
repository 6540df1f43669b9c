// Tests that the name in the top bar opens a menu of the models that were opened last.
import QtQuick
import QtTest
import Spillway.App
import Spillway.Tests
import Spillway.Ui
import ".."

Item {
    width: 1180
    height: 640

    WindowCase {
        name: "ModelMenu"

        function open(path) {
            Bench.openAtOnce(path);
            tryVerify(() => Bench.models.current.known && Bench.models.current.path === path);
        }
        function made(name) { return Bench.file(name, "").toString().replace("file://", ""); }
        function menu() { return findChild(shell, "modelMenu"); }
        function line(index) { return menu().itemAt(1 + index); }

        function test_the_last_models_can_be_chosen_again() {
            makeWindow();
            const one = made("one.gguf"), two = made("two.gguf");
            open(one);
            wait(2); // their times differ
            open(two);
            compare(part("modelName").text, "two");
            click(part("modelBadge"));
            tryCompare(menu(), "opened", true);
            compare(Bench.catalogue.recent.length, 2);
            compare(line(0).text, "two");
            compare(line(0).Accessible.name, "two, two.gguf, open");
            compare(line(1).Accessible.name, "one, one.gguf");
            compare(findChild(line(1), "recentFile").text, "one.gguf");
            click(line(1));
            tryVerify(() => Bench.models.current.path === one);
            tryCompare(menu(), "visible", false);
            compare(part("modelName").text, "one");
            tryCompare(part("composerField"), "activeFocus", true);
        }

        function test_the_keyboard_does_it_all() {
            makeWindow();
            const one = made("one.gguf"), two = made("two.gguf");
            open(one);
            wait(2);
            open(two);
            keyClick(Qt.Key_L, Qt.ControlModifier | Qt.ShiftModifier);
            tryCompare(menu(), "opened", true);
            keyClick(Qt.Key_Escape);
            tryCompare(menu(), "visible", false);
            tryCompare(part("composerField"), "activeFocus", true);
            part("modelBadge").forceActiveFocus();
            keyClick(Qt.Key_Return);
            tryCompare(menu(), "opened", true);
            for (let i = 0; i < 4 && !line(1).highlighted; ++i)
                keyClick(Qt.Key_Down);
            verify(line(1).highlighted);
            keyClick(Qt.Key_Return);
            tryVerify(() => Bench.models.current.path === one);

            keyClick(Qt.Key_L, Qt.ControlModifier | Qt.ShiftModifier);
            tryCompare(menu(), "opened", true);
            const others = menu().itemAt(menu().count - 2); // then a file
            for (let i = 0; i < 6 && !others.highlighted; ++i)
                keyClick(Qt.Key_Down);
            verify(others.highlighted);
            keyClick(Qt.Key_Return);
            tryVerify(() => findChild(shell, "modelsPage"));
            tryCompare(part("modelsPage"), "visible", true);
        }

        function test_a_file_that_is_gone_is_missing() {
            makeWindow();
            const gone = made("gone.gguf"), here = made("here.gguf");
            open(gone);
            wait(2);
            open(here);
            verify(Bench.remove(gone));
            keyClick(Qt.Key_L, Qt.ControlModifier | Qt.ShiftModifier);
            tryVerify(() => !Bench.catalogue.recent[1].there);
            compare(line(1).Accessible.name, "gone, gone.gguf, missing");
            verify(!line(1).enabled && line(0).enabled);
        }

        function test_while_one_is_loaded_there_is_the_way_back() {
            makeWindow();
            open(made("one.gguf"));
            Bench.script({ loadMs: 60000 });
            const two = made("two.gguf");
            Bench.openAtOnce(two);
            tryCompare(Bench.models, "phase", ModelController.Loading);
            compare(part("modelName").text, "two");
            verify(part("modelDetails").text.startsWith("Loading…"), part("modelDetails").text);
            keyClick(Qt.Key_L, Qt.ControlModifier | Qt.ShiftModifier);
            tryCompare(menu(), "opened", true);
            verify(!line(0).enabled);
            compare(menu().itemAt(0).text, "Cancel the loading of “two”");
            click(menu().itemAt(0));
            tryCompare(Bench.models, "phase", ModelController.Idle);
        }

        function test_only_the_last_ones_are_kept() {
            makeWindow();
            for (let i = 0; i < 10; ++i) {
                open(made(`m${i}.gguf`));
                wait(2);
            }
            compare(Bench.catalogue.recent.length, 8);
            compare(Bench.catalogue.recent[0].title, "m9");
            compare(Bench.catalogue.recent[7].title, "m2");
        }
    }
}
