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

        function test_a_long_one_stays_in_the_window() {
            const tip = findChild(button, "tip");
            button.name = "Do not search /home/someone/models/" + "a-folder-with-a-long-name/".repeat(4);
            button.forceActiveFocus(Qt.TabFocusReason);
            tryCompare(tip, "opened", true);
            const words = tip.contentItem;
            const place = words.mapToItem(null, 0, 0);
            verify(place.x >= 0 && place.x + words.contentWidth <= root.width, place.x + " and " + words.contentWidth);
            verify(place.y >= 0 && place.y + words.contentHeight <= root.height, place.y + " and " + words.contentHeight);
            button.name = "Delete";
            root.forceActiveFocus();
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
