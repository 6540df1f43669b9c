// A few choices side by side, one of which holds.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Controls
import Spillway.Ui.Theme

Rectangle {
    id: root

    required property string name
    required property var choices // their words, in order
    required property int chosen

    signal choiceRequested(int choice)

    implicitWidth: row.implicitWidth + 2 * Theme.px(3)
    implicitHeight: Theme.px(40)
    radius: Theme.radius
    color: Theme.sunken

    Accessible.role: Accessible.Grouping
    Accessible.name: root.name

    Row {
        id: row

        anchors.centerIn: parent
        height: parent.height - 2 * Theme.px(3)

        Repeater {
            model: root.choices

            AbstractButton {
                id: choice

                required property int index
                required property string modelData

                readonly property bool holds: index === root.chosen

                objectName: "choice" + index
                height: row.height
                leftPadding: Theme.px(12)
                rightPadding: Theme.px(12)
                hoverEnabled: true
                text: modelData
                onClicked: root.choiceRequested(index)

                Accessible.role: Accessible.RadioButton
                Accessible.name: choice.text
                Accessible.checkable: true
                Accessible.checked: choice.holds
                Accessible.onPressAction: choice.clicked()

                contentItem: Text {
                    text: choice.text
                    textFormat: Text.PlainText
                    verticalAlignment: Text.AlignVCenter
                    font.pixelSize: Theme.sizeSmall
                    font.weight: Font.Medium
                    color: choice.holds || choice.hovered ? Theme.text : Theme.textMuted
                    Accessible.ignored: true
                }
                background: Rectangle {
                    radius: Theme.radius - Theme.px(3)
                    color: choice.holds ? Theme.raised : "transparent"
                    border.width: choice.holds ? 1 : 0
                    border.color: Theme.border

                    FocusRing { visible: choice.visualFocus }
                }
            }
        }
    }
}
