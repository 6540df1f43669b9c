// Tests that a tip is shown only for a button that can be seen and used.
import QtQuick
import QtTest
import Spillway.Ui.Components

Item {
    id: root

    width: 200
    height: 200

    Item {
        id: row

        anchors.fill: parent

        IconButton {
            id: button

            anchors.centerIn: parent
            name: "Delete"
            source: "qrc:/icons/delete.svg"
        }
    }
    TestCase {
        name: "Tips"
        when: windowShown

        function cleanup() {
            row.visible = row.enabled = true;
            mouseMove(root, 1, 1);
        }

        function test_gone_with_its_row_data() {
            return [{ tag: "hidden", property: "visible" }, { tag: "disabled", property: "enabled" }];
        }
        function test_gone_with_its_row(data) {
            const tip = findChild(button, "tip");
            button.forceActiveFocus(Qt.TabFocusReason);
            mouseMove(button);
            tryCompare(tip, "opened", true);
            row[data.property] = false;
            tryCompare(tip, "visible", false, 300);
            wait(600); // nor does it come back
            verify(!tip.visible);
        }
    }
}
