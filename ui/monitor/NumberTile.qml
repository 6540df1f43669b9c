// Shows one number with its name, and its values in the answers before.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Layouts
import Spillway.Ui.Components
import Spillway.Ui.Theme

Rectangle {
    id: root

    required property string label
    required property string value
    property string note: ""
    property string explanation: ""
    property var history: [] // oldest first

    readonly property real highest: history.length > 0 ? Math.max(...history) : 0

    implicitHeight: column.implicitHeight + 2 * Theme.gapSmall
    implicitWidth: Theme.px(96)
    radius: Theme.radiusSmall
    color: Theme.raised
    border.width: 1
    border.color: Theme.border

    Accessible.role: Accessible.StaticText
    Accessible.name: root.label + ": " + root.value + (root.note === "" ? "" : ", " + root.note)
    Accessible.description: root.explanation

    ColumnLayout {
        id: column

        x: Theme.gapSmall
        y: Theme.gapSmall
        width: parent.width - 2 * Theme.gapSmall
        spacing: 1

        Text {
            Layout.fillWidth: true
            text: root.label
            textFormat: Text.PlainText
            elide: Text.ElideRight
            font.pixelSize: Theme.px(12)
            color: Theme.textMuted
            Accessible.ignored: true
        }
        Text {
            Layout.fillWidth: true
            text: root.value
            textFormat: Text.PlainText
            elide: Text.ElideRight
            font.pixelSize: Theme.sizeBody
            font.weight: Font.DemiBold
            color: Theme.text
            Accessible.ignored: true
        }
        Row {
            id: bars

            readonly property int shown: Math.min(root.history.length, 12)

            Layout.fillWidth: true
            Layout.preferredHeight: Theme.px(14)
            spacing: 2

            Repeater {
                model: bars.shown
                delegate: Item {
                    required property int index

                    width: Theme.px(4)
                    height: bars.height

                    Rectangle {
                        anchors.bottom: parent.bottom
                        width: parent.width
                        height: root.highest > 0 ? Math.max(1, parent.height * root.history[root.history.length - bars.shown + parent.index] / root.highest) : 1
                        radius: 1
                        color: parent.index === bars.shown - 1 ? Theme.accent : Theme.borderStrong
                    }
                }
            }
        }
    }
    HoverHandler { id: hover }
    Tip {
        visible: hover.hovered && root.explanation !== ""
        text: root.note === "" ? root.explanation : root.note + "\n" + root.explanation
    }
}
