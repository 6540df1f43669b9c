// Shows a name and a number.
import QtQuick
import QtQuick.Layouts
import Spillway.Ui.Theme

RowLayout {
    id: root

    required property string name
    required property string value

    Layout.fillWidth: true
    spacing: Theme.gapSmall

    Accessible.role: Accessible.StaticText
    Accessible.name: root.name + ": " + root.value

    Text {
        Layout.fillWidth: true
        text: root.name
        textFormat: Text.PlainText
        wrapMode: Text.Wrap
        font.pixelSize: Theme.sizeSmall
        color: Theme.textMuted
        Accessible.ignored: true
    }
    Text {
        text: root.value
        textFormat: Text.PlainText
        font.pixelSize: Theme.sizeSmall
        font.weight: Font.Medium
        color: Theme.text
        Accessible.ignored: true
    }
}
