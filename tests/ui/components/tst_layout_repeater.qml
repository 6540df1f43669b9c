// Tests that a layout can get another size when items of its LayoutRepeater have just gone. With Qt's own Repeater each
// of these tests ends the program.
import QtQuick
import QtQuick.Layouts
import QtTest
import Spillway.Ui.Components

Item {
    id: root

    property var entries: ["a", "b", "c"]

    width: 400
    height: 400

    ListModel {
        id: rows
    }
    RowLayout {
        id: row

        Text {
            Layout.fillWidth: true
            text: "keys"
        }
        LayoutRepeater {
            id: repeater

            model: root.entries
            delegate: Rectangle {
                required property string modelData

                implicitWidth: label.implicitWidth
                implicitHeight: label.implicitHeight

                Text {
                    id: label

                    text: parent.modelData
                }
            }
        }
    }

    TestCase {
        when: windowShown
        name: "LayoutRepeater"

        function init() {
            row.width = 200;
            rows.clear();
            for (const name of ["a", "b", "c"])
                rows.append({ modelData: name });
            root.entries = ["a", "b", "c"];
            waitForRendering(row);
        }
        function test_items_that_are_gone_are_not_laid_out_data() {
            return [
                { tag: "other entries", change: () => root.entries = ["d", "e", "f"], left: 3 },
                { tag: "no entries", change: () => root.entries = [], left: 0 },
                { tag: "a row", rows: true, change: () => rows.remove(1), left: 2 },
                { tag: "all rows", rows: true, change: () => rows.clear(), left: 0 }
            ];
        }
        function test_items_that_are_gone_are_not_laid_out(data) {
            if (data.rows)
                root.entries = rows;
            wait(0);
            data.change();
            wait(0);
            row.width = 300;
            compare(repeater.count, data.left);
            compare(row.width, 300);
        }
    }
}
