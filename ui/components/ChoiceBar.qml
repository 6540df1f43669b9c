// Offers a few choices side by side, of which one is chosen. Left and right change it.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Controls
import QtQuick.Layouts
import Spillway.Ui.Theme

Control {
    id: root

    required property string name
    required property var choices // labels
    required property int current

    signal chosen(int choice)

    function step(by: int) {
        const next = current + by;
        if (next >= 0 && next < choices.length)
            chosen(next);
    }

    implicitHeight: Theme.controlHeight
    implicitWidth: implicitContentWidth + 2 * padding
    padding: 2
    focusPolicy: Qt.StrongFocus

    Accessible.role: Accessible.Grouping
    Accessible.name: qsTr("%1: %2").arg(root.name).arg(root.choices[root.current] ?? "")
    Accessible.focusable: true
    Keys.onLeftPressed: step(-1)
    Keys.onRightPressed: step(1)

    background: Rectangle {
        radius: Theme.radiusSmall
        color: Theme.sunken

        FocusRing { visible: root.visualFocus }
    }
    contentItem: RowLayout { // qmllint disable deferred-property-id
        spacing: 0

        LayoutRepeater {
            model: root.choices
            delegate: AbstractButton {
                id: choice

                required property int index
                required property string modelData

                objectName: "choice" + index
                Layout.fillWidth: true
                Layout.fillHeight: true
                implicitWidth: implicitContentWidth + 2 * Theme.px(12)
                focusPolicy: Qt.NoFocus
                hoverEnabled: true
                onClicked: root.chosen(index)

                Accessible.role: Accessible.RadioButton
                Accessible.name: qsTr("%1: %2").arg(root.name).arg(modelData)
                Accessible.checkable: true
                Accessible.checked: index === root.current
                Accessible.onPressAction: clicked()

                background: Rectangle {
                    radius: Theme.radiusSmall - 2
                    color: choice.index === root.current ? Theme.raised : choice.hovered ? Theme.hover : "transparent"
                    border.width: choice.index === root.current ? 1 : 0
                    border.color: Theme.border
                }
                contentItem: Text {
                    text: choice.modelData
                    textFormat: Text.PlainText
                    horizontalAlignment: Text.AlignHCenter
                    verticalAlignment: Text.AlignVCenter
                    elide: Text.ElideRight
                    font.pixelSize: Theme.sizeSmall
                    font.weight: choice.index === root.current ? Font.Medium : Font.Normal
                    color: choice.index === root.current ? Theme.text : Theme.textMuted
                    Accessible.ignored: true
                }
            }
        }
    }
}
