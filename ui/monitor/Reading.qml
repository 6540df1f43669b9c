// Shows one live number with its name.
import QtQuick
import Spillway.Ui.Components
import Spillway.Ui.Theme

Item {
    id: root

    required property string label
    required property string value
    property string explanation: ""
    property bool brief: false // without its name

    readonly property real fullWidth: name.implicitWidth + row.spacing + number.implicitWidth // with it

    implicitWidth: row.implicitWidth
    implicitHeight: row.implicitHeight

    Accessible.role: Accessible.StaticText
    Accessible.name: root.label + ": " + root.value
    Accessible.description: root.explanation

    Row {
        id: row

        spacing: 6

        Text {
            id: name

            visible: !root.brief
            text: root.label
            textFormat: Text.PlainText
            font.pixelSize: Theme.sizeSmall
            color: Theme.textMuted
            Accessible.ignored: true
        }
        Text {
            id: number

            text: root.value
            textFormat: Text.PlainText
            font.pixelSize: Theme.sizeSmall
            font.weight: Font.Medium
            color: Theme.text
            Accessible.ignored: true
        }
    }
    HoverHandler { id: hover }
    Tip {
        visible: hover.hovered && root.explanation !== ""
        text: root.explanation
    }
}
