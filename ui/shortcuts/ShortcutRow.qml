// Shows one line of the sheet: an action and its keys.
import QtQuick
import QtQuick.Layouts
import Spillway.Ui.Components
import Spillway.Ui.Theme

RowLayout {
    id: root

    required property string title
    required property var keys

    height: implicitHeight + Theme.gapSmall
    spacing: Theme.gapSmall

    Accessible.role: Accessible.ListItem
    Accessible.name: root.title + ": " + root.keys.join(", ")

    Text {
        Layout.fillWidth: true
        text: root.title
        textFormat: Text.PlainText
        wrapMode: Text.Wrap
        font.pixelSize: Theme.sizeBody
        color: Theme.text
        Accessible.ignored: true
    }
    LayoutRepeater {
        model: root.keys
        delegate: Rectangle {
            required property string modelData

            implicitWidth: keyText.implicitWidth + 2 * Theme.gapSmall
            implicitHeight: keyText.implicitHeight + Theme.gapSmall
            radius: Theme.px(6)
            color: Theme.sunken
            border.width: 1
            border.color: Theme.border

            Text {
                id: keyText

                anchors.centerIn: parent
                text: parent.modelData
                textFormat: Text.PlainText
                font.pixelSize: Theme.sizeSmall
                font.weight: Font.Medium
                color: Theme.text
                Accessible.ignored: true
            }
        }
    }
}
