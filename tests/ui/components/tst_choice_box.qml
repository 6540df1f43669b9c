// Tests that a box says what is chosen, also when its lines are said in another language.
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
    }
}
