// Tests the window itself, around what Shell shows in it.
import QtQuick
import QtTest
import Spillway.Tests
import Spillway.Ui

TestCase {
    id: root

    property Window window: null

    name: "Window"

    function cleanup() {
        window.destroy();
        wait(0); // until it is gone
        Bench.clear();
    }

    function test_a_second_start_brings_it_back_data() {
        return [{ tag: "at its size", shown: Window.Windowed }, { tag: "filling the screen", shown: Window.Maximized }];
    }
    function test_a_second_start_brings_it_back(data) {
        Bench.reset();
        window = windowComponent.createObject(null);
        tryCompare(window, "visible", true);
        window.visibility = data.shown;
        wait(50); // the window hears of it later
        Bench.program.raiseRequested();
        compare(window.visibility, data.shown);
        window.showMinimized();
        tryCompare(window, "visibility", Window.Minimized);
        Bench.program.raiseRequested();
        tryCompare(window, "visibility", data.shown);
        tryCompare(window, "active", true);
    }

    function test_it_is_no_larger_than_a_screen() {
        Bench.reset();
        window = windowComponent.createObject(null);
        compare(window.roomOn(1920, 1080, 1920, 1050), Qt.size(1920, 1010)); // with a bar of the desktop's
        compare(window.roomOn(1920, 1080, 5760, 2160), Qt.size(1920, 1040)); // a larger one beside it
        compare(window.room, Qt.size(Screen.width, Screen.desktopAvailableHeight - 40));
        verify(window.width <= Screen.width && window.height <= Screen.height); // it may be maximised
    }

    Component {
        id: windowComponent

        Main {
            chat: Bench.chat
            conversations: Bench.conversations
            composer: Bench.composer
            conversationSettings: Bench.conversationSettings
            models: Bench.models
            catalogue: Bench.catalogue
            settings: Bench.settings
            program: Bench.program
            log: Bench.log
            pressure: Bench.pressure
            experiments: Bench.experiments
            fetching: Bench.fetching
            servers: Bench.servers
            serverLoad: Bench.serverLoad
            server: Bench.server
        }
    }
}
