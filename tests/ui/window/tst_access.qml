// Tests that everything can be reached by keyboard and has a name that is read aloud.
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
        name: "Access"

        function tabStops() {
            const first = Bench.focusName(shell);
            let stops = [];
            for (let i = 0; i < 60 && (i === 0 || Bench.focusName(shell) !== first); ++i) {
                const name = Bench.focusName(shell);
                if (stops.indexOf(name) < 0)
                    stops.push(name);
                keyClick(Qt.Key_Tab);
            }
            return stops.sort().join(" ");
        }

        // What Tab comes to, among other things; that it comes to everything is in tst_pages_access.qml.
        function reaches(names) {
            const stops = tabStops().split(" ");
            for (const name of names.split(" "))
                verify(stops.indexOf(name) >= 0, name + " is not among " + stops);
        }

        function test_empty() {
            makeWindow();
            compare(Bench.namelessControls(shell).join(), "");
            const controls = Bench.controls(shell).join("\n");
            for (const name of ["Button: Open a model", "EditableText: Message", "Button: Send"])
                verify(controls.indexOf(name) >= 0, name + " is not among\n" + controls);
            reaches("attachButton composerField conversationSettingsButton navAbout navExperiments navLog navModels navSettings openGuide openModel sidebarButton themeButton");
        }

        function test_conversation() {
            makeWindow();
            openModel();
            ask("hello");
            tryVerify(() => footer() && footer().visible);
            type("x");
            compare(Bench.namelessControls(shell).join(), "");
            const controls = Bench.controls(shell).join("\n");
            for (const name of ["Button: Open a model", "Button: New conversation", "List: Conversation",
                                "Button: Copy the answer", "Button: Answer again", "EditableText: Message",
                                "Button: Send", "Button: Context: 8 of 2,048 tokens used"])
                verify(controls.indexOf(name) >= 0, name + " is not among\n" + controls);
            reaches("answerNumbers attachButton branchButton composerField contextMeter conversationSettingsButton copyButton editButton message navAbout navExperiments navLog navModels navSettings newButton openButton rawButton retryButton sendButton sidebarButton themeButton");
        }

        // A screen reader reads aloud what has this role when it appears.
        function test_the_end_of_an_answer_is_told() {
            makeWindow({ text: "yes" });
            openModel();
            const news = part("answerNews");
            compare(news.Accessible.role, Accessible.Notification);
            verify(!news.visible);
            ask("hello");
            tryCompare(news, "visible", true);
            compare(news.Accessible.name, "The answer is complete.");
            keyClick(Qt.Key_N, Qt.ControlModifier);
            tryCompare(news, "visible", false);
        }

        function test_offer() {
            makeWindow();
            Bench.models.open("file:///models/tiny.gguf");
            tryVerify(() => findChild(part("modelCard"), "load").activeFocus);
            wait(50); // the page gives it the keyboard once more when the phase has changed
            compare(Bench.namelessControls(shell).join(), "");
            reaches("attachButton cancelLoad composerField conversationSettingsButton load navAbout navExperiments navLog navModels navSettings sidebarButton themeButton");
        }

        function test_buttons_answer_to_the_keyboard() {
            makeWindow();
            const before = Bench.settings.theme.value;
            part("themeButton").forceActiveFocus(Qt.TabFocusReason);
            keyClick(Qt.Key_Space);
            verify(Bench.settings.theme.value !== before);
            keyClick(Qt.Key_Return);
            keyClick(Qt.Key_Enter);
            compare(Bench.settings.theme.value, before); // there are three themes
            part("navSettings").forceActiveFocus(Qt.TabFocusReason);
            keyClick(Qt.Key_Enter);
            compare(shell.page, PageName.Settings);
        }

        function test_a_window_of_large_text_that_becomes_narrow() {
            Theme.scale = 2;
            parent.width = 1400;
            makeWindow();
            openModel();
            tryVerify(() => part("contextMeter").visible);
            parent.width = 640;
            for (const name of ["sendButton", "contextMeter"])
                tryVerify(() => part(name).mapToItem(shell, part(name).width, 0).x <= shell.width, 20000, name);
            Theme.scale = 1;
            parent.width = 1024;
        }

        function test_small_and_large_windows() {
            for (const size of [[640, 480], [1024, 640], [2560, 1440]]) {
                parent.width = size[0];
                parent.height = size[1];
                makeWindow();
                openModel();
                ask("hello");
                tryVerify(() => footer() && footer().visible);
                const composer = part("composer");
                const page = part("chatPage");
                const left = composer.mapToItem(page, 0, 0).x;
                verify(composer.width <= 760);
                fuzzyCompare(left, (page.width - composer.width) / 2, 1); // in the middle
                for (const name of ["sendButton", "themeButton", "contextMeter", "statusLine"]) {
                    const corner = part(name).mapToItem(shell, part(name).width, part(name).height);
                    verify(corner.x <= shell.width && corner.y <= shell.height, name + " leaves a window of " + size);
                }
                cleanup();
            }
            parent.width = 1024;
            parent.height = 640;
        }
    }
}
