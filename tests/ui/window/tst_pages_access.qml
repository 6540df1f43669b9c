// Tests that everything that can be used on any page is named, has a role, and is reached with Tab alone; also at the
// largest text in the smallest window.
import QtQuick
import QtTest
import Spillway.App
import Spillway.Tests
import Spillway.Ui
import Spillway.Ui.Theme
import ".."

Item {
    width: 1180
    height: 780

    WindowCase {
        name: "PagesAccess"

        function cleanup() {
            if (shell)
                shell.destroy();
            shell = null;
            Theme.scale = 1;
            parent.width = 1180;
            parent.height = 780;
            wait(0);
            Bench.clear();
        }

        function test_page_data() {
            const rows = [];
            for (const page of ["Conversation", "Models", "Settings", "Log", "About", "Experiments", "Find"]) {
                rows.push({ tag: page, page: page, scale: 1 });
                rows.push({ tag: page + " at 200 %", page: page, scale: 2 });
            }
            return rows;
        }

        function test_page(data) {
            Theme.scale = data.scale;
            if (data.scale > 1) {
                parent.width = 1024;
                parent.height = 640;
            }
            makeWindow({ hub: true });
            openModel();
            ask("hello");
            tryVerify(() => !Bench.chat.turn.busy);
            Bench.settings.addModelFolder(Qt.resolvedUrl(".")); // it holds no model
            Bench.logLine(2, "a line");
            shell.show(PageName[data.page]);
            wait(100);
            compare(Bench.namelessControls(shell).join("\n"), "");
            compare(Bench.unspokenStops(shell).join("\n"), "");
            compare(Bench.unreachable(shell).join("\n"), "");
            Bench.settings.modelFolders.forEach(folder => Bench.settings.removeModelFolder(folder));
        }

        // From the smallest window to widths where it has room for more.
        function test_the_top_bar_at_large_text_data() {
            const rows = [];
            for (const width of [640, 700, 959, 960, 1180]) {
                rows.push({ tag: width, width: width, server: false });
                rows.push({ tag: width + ", with the sign of the server", width: width, server: true });
            }
            return rows;
        }
        function test_the_top_bar_at_large_text(data) {
            Theme.scale = 2;
            parent.width = data.width;
            makeWindow();
            openModel();
            if (data.server)
                part("serverSign").visible = true;
            const bar = part("sidebarButton").parent;
            waitForRendering(bar);
            for (const child of Array.from(bar.children).filter(child => child.visible))
                verify(child.x >= 0 && child.x + child.width <= bar.width, (child.objectName || child) + " ends at " + (child.x + child.width) + " of " + bar.width);
            verify(part("modelBadge").width >= 88, part("modelBadge").width);
            compare(part("openButton").visible, data.width >= 960);
            part("modelMenu").open();
            tryCompare(part("openFile"), "visible", true);
            part("modelMenu").close();
        }

        // With models in the list, and one of them unfolded.
        function test_the_models_come_round_data() { return [{ tag: "100 %", scale: 1 }, { tag: "200 %", scale: 2 }]; }

        function test_the_models_come_round(data) {
            Theme.scale = data.scale;
            makeWindow();
            Bench.putModels(["a.gguf", "b.gguf"]);
            Bench.settings.addModelFolder(Qt.resolvedUrl("."));
            shell.show(PageName.Models);
            tryVerify(() => Bench.catalogue.scanned && !Bench.catalogue.scanning);
            tryCompare(part("modelSearch"), "activeFocus", true);
            compare(Bench.unreachable(shell).join("\n"), "");
            part("modelList").forceActiveFocus(Qt.TabFocusReason);
            keyClick(Qt.Key_Space);
            tryVerify(() => findChild(part("modelList").itemAtIndex(0), "copyPath"));
            wait(50);
            compare(Bench.unreachable(shell).join("\n"), "");
            // Who leaves by the mouse finds the list again, too.
            part("addFolder").forceActiveFocus(Qt.TabFocusReason);
            part("modelOrder").forceActiveFocus(Qt.MouseFocusReason);
            keyClick(Qt.Key_Tab);
            if (Bench.servers.available)
                keyClick(Qt.Key_Tab); // the way to the servers lies between them
            compare(Bench.focusName(shell), "modelList");
            keyClick(Qt.Key_Down);
            compare(part("modelList").currentIndex, 1);
            Bench.settings.modelFolders.forEach(folder => Bench.settings.removeModelFolder(folder));
        }

        // What is longer than its room says so with an ellipsis or wraps; it never runs out of the window.
        function outside(item: Item, list) {
            if (!item || !item.visible || item.width <= 0)
                return list;
            if (item.text !== undefined && item.text !== "" && item.truncated !== undefined) {
                const left = item.mapToItem(shell, 0, 0).x, right = left + Math.min(item.contentWidth, item.width);
                if (left < -1 || right > shell.width + 1)
                    list.push(item.text + " (" + Math.round(left) + " to " + Math.round(right) + ")");
            }
            for (let i = 0; i < item.children.length; ++i)
                outside(item.children[i], list);
            return list;
        }

        function test_no_text_leaves_the_window_data() { return test_page_data(); }

        function test_no_text_leaves_the_window(data) {
            Theme.scale = data.scale;
            parent.width = data.scale > 1 ? 1024 : 640;
            parent.height = data.scale > 1 ? 640 : 480;
            makeWindow();
            shell.show(PageName[data.page]);
            wait(100);
            compare(outside(shell, []).join("\n"), "");
        }
    }
}
