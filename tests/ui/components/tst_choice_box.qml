// Tests that a box says what is chosen, also when its lines are said in another language or are longer than the box.
import QtQuick
import QtTest
import Spillway.Ui.Components

Item {
    id: root

    property var names: ["Light", "Dark", "As the desktop"]
    property int setting: 1

    width: 300
    height: 100

    ChoiceBox {
        id: box

        name: "Theme"
        model: root.names
        chosen: root.setting
        onActivated: index => root.setting = index
    }

    ChoiceBox {
        id: narrow

        y: 50
        width: 120
        name: "Device"
        model: ["CPU only", "GPU of a maker who gives long names, 8 GB"]
    }

    TestCase {
        when: windowShown
        name: "ChoiceBox"

        function test_other_names_for_the_same_choice() {
            compare(box.currentText, "Dark");
            root.names = ["Hell", "Dunkel", "Wie der Desktop"];
            compare(box.currentText, "Dunkel");
            root.setting = 2;
            compare(box.currentText, "Wie der Desktop");
            box.forceActiveFocus();
            keyClick(Qt.Key_Up);
            compare(root.setting, 1);
            root.names = ["Light", "Dark", "As the desktop"];
            compare(box.currentText, "Dark");
            root.setting = 0;
            compare(box.currentText, "Light");
        }

        function test_a_name_longer_than_the_box_is_said_whole() {
            const tip = findChild(narrow, "tip");
            mouseMove(narrow, 20, 10);
            tryCompare(narrow, "hovered", true);
            compare(tip.visible, false); // all of it is in the box
            narrow.chosen = 1;
            compare(narrow.contentItem.truncated, true);
            tryCompare(tip, "opened", true);
            compare(tip.text, narrow.model[1]);
            compare(narrow.Accessible.description, narrow.model[1]);
            mouseClick(narrow);
            tryCompare(narrow.popup, "opened", true);
            tryCompare(tip, "visible", false);
            const list = narrow.popup.contentItem;
            tryVerify(() => list.itemAtIndex(1));
            const words = list.itemAtIndex(1).contentItem;
            verify(words.lineCount > 1);
            verify(!words.truncated && words.height >= words.contentHeight);
            narrow.popup.close();
            tryCompare(narrow.popup, "visible", false);
        }
    }
}
