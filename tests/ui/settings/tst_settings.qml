// Tests that every row of the page of settings does what it says, and goes back to its default.
import QtQuick
import QtTest
import Spillway.App
import Spillway.Tests
import Spillway.Ui
import Spillway.Ui.Theme
import ".."

Item {
    width: 1180
    height: 900

    WindowCase {
        name: "Settings"

        function openSettings() {
            makeWindow();
            keyClick(Qt.Key_Comma, Qt.ControlModifier);
            compare(shell.page, PageName.Settings);
            tryVerify(() => findChild(shell, "settingsPage"));
        }
        function choose(row, downs) {
            const box = findChild(part(row), "choice");
            box.forceActiveFocus(Qt.TabFocusReason);
            for (let i = 0; i < downs; ++i)
                keyClick(Qt.Key_Down);
        }

        function test_choices_data() {
            return [
                { tag: "theme", row: "themeRow", setting: "theme" },
                { tag: "language", row: "languageRow", setting: "language" },
                { tag: "start", row: "startRow", setting: "startWith" },
                { tag: "draft", row: "draftRow", setting: "draft" },
                { tag: "kv", row: "kvRow", setting: "kvType" }
            ];
        }

        function test_choices(data) {
            openSettings();
            const setting = Bench.settings[data.setting];
            const reset = findChild(part(data.row), "reset");
            verify(!reset.enabled);
            choose(data.row, 1);
            compare(setting.value, setting.initial + 1);
            verify(reset.enabled);
            reset.clicked();
            compare(setting.value, setting.initial);
            compare(findChild(part(data.row), "choice").currentIndex, setting.initial);
        }

        function test_large_text_in_a_small_window() {
            Theme.scale = 2;
            parent.width = 640;
            makeWindow({ hub: true });
            shell.show(PageName.Settings);
            tryVerify(() => findChild(shell, "settingsPage"));
            for (const [row, control] of [["deviceRow", "choice"], ["deviceRow", "reset"], ["hubTokenRow", "hubToken"], ["hubTokenRow", "keepHubToken"]]) {
                const item = findChild(part(row), control);
                tryVerify(() => item.width > 0 && item.mapToItem(part(row), item.width, 0).x <= part(row).width, 5000, row + ": " + control);
            }
            const heading = part("contactRows").children[0];
            compare([heading.text, heading.truncated], ["Connections to other machines since the start", false]);
        }

        function test_typed_number() {
            openSettings();
            const box = findChild(part("contextRow"), "number");
            box.contentItem.forceActiveFocus(Qt.TabFocusReason);
            compare(box.displayText, "The model's own");
            for (const letter of "4096")
                keyClick(letter);
            keyClick(Qt.Key_Return);
            compare(Bench.settings.contextTokens.value, 4096);
            compare(box.displayText, "4,096");
            findChild(part("contextRow"), "reset").clicked();
            compare(box.value, 0);
            for (const letter of "999999999999999")
                keyClick(letter);
            keyClick(Qt.Key_Return);
            compare(Bench.settings.contextTokens.value, Bench.settings.contextTokens.highest);
            box.contentItem.selectAll();
            for (const letter of "2.5")
                keyClick(letter);
            keyClick(Qt.Key_Return);
            compare(box.value, 2);
            box.contentItem.selectAll();
            for (const letter of "1,234 tokens")
                keyClick(letter);
            keyClick(Qt.Key_Return);
            compare(box.value, 1234);
            box.contentItem.deselect();
            box.contentItem.text = box.displayText; // which was not written anew
            box.contentItem.cursorPosition = 5;
            keyClick("0");
            keyClick(Qt.Key_Return);
            compare(box.value, 12340);
            keyClick("x"); // no digit: it stays or becomes the least, but nothing breaks
            keyClick(Qt.Key_Return);
            verify(Bench.settings.contextTokens.value >= 0);
        }

        function test_saved_kv() {
            openSettings();
            const row = part("savedKvRow");
            compare(Bench.settings.savedKvGib.value, 8);
            const box = findChild(row, "number");
            box.contentItem.forceActiveFocus(Qt.TabFocusReason);
            keyClick("0");
            keyClick(Qt.Key_Return);
            compare(Bench.settings.savedKvGib.value, 0);
            compare(box.displayText, "None");
            findChild(row, "reset").clicked();
            compare(box.value, 8);
        }

        function test_override_is_said() {
            openSettings();
            const row = part("threadsRow");
            verify(!findChild(row, "effective").visible);
            Bench.overrideThreads(3);
            compare(findChild(row, "number").value, 3);
            verify(findChild(row, "effective").text.indexOf("command line") > 0);
            findChild(row, "reset").clicked();
            verify(!findChild(row, "effective").visible);
        }

        function test_size_of_text() {
            openSettings();
            const before = part("navSettings").implicitHeight;
            Theme.scale = Qt.binding(() => Bench.settings ? Bench.settings.fontPercent.value / 100 : 1);
            keyClick(Qt.Key_Plus, Qt.ControlModifier);
            compare(Bench.settings.fontPercent.value, 110);
            for (let i = 0; i < 20; ++i)
                keyClick(Qt.Key_Plus, Qt.ControlModifier);
            compare(Bench.settings.fontPercent.value, 200);
            compare(part("navSettings").implicitHeight, 2 * before);
            keyClick(Qt.Key_0, Qt.ControlModifier);
            compare(Bench.settings.fontPercent.value, 100);
            Theme.scale = 1;
        }

        function test_folders() {
            openSettings();
            verify(Bench.settings.addModelFolder("file:///tmp"));
            tryVerify(() => findChild(shell, "removeFolder"));
            findChild(shell, "removeFolder").clicked();
            compare(Bench.settings.modelFolders.length, 0);
        }

        function test_reload() {
            openSettings();
            Bench.followSettings();
            Bench.openAtOnce("/models/tiny.gguf");
            tryVerify(() => Bench.models.current.known);
            keyClick(Qt.Key_Comma, Qt.ControlModifier);
            const notice = part("reloadNotice");
            verify(!notice.visible);
            Bench.settings.contextTokens.value = 512;
            tryCompare(notice, "visible", true);
            findChild(notice, "noticeAction").clicked();
            tryVerify(() => Bench.models.phase === ModelController.Idle && !Bench.models.reloadNeeded);
            verify(!notice.visible);
        }
    }
}
