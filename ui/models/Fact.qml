// Shows one fact of a model: its name and its value.
import QtQuick
import Spillway.Ui.Theme

Column {
    id: root

    required property string label
    required property string value

    spacing: 2

    Accessible.role: Accessible.StaticText
    Accessible.name: root.label + ": " + root.value

    Text {
        text: root.label
        textFormat: Text.PlainText
        font.pixelSize: Theme.sizeSmall
        color: Theme.textMuted
        Accessible.ignored: true
    }
    Text {
        width: root.width
        text: root.value
        textFormat: Text.PlainText
        elide: Text.ElideRight
        font.pixelSize: Theme.sizeBody
        font.weight: Font.Medium
        color: Theme.text
        Accessible.ignored: true
    }
}
