// Draws a line of a menu: a picture, words, and the keys that do the same.
import QtQuick
import QtQuick.Controls
import QtQuick.Layouts
import Spillway.Ui.Theme

MenuItem {
    id: root

    property string shortcutText: ""
    property bool dangerous: false

    readonly property color ink: dangerous ? Theme.danger : Theme.text

    implicitHeight: visible ? Theme.px(34) : 0
    leftPadding: Theme.gapSmall
    rightPadding: Theme.gapSmall
    font.pixelSize: Theme.sizeSmall
    opacity: enabled ? 1 : 0.5

    Accessible.role: Accessible.MenuItem
    Accessible.name: root.text
    Accessible.onPressAction: root.triggered()

    contentItem: RowLayout {
        spacing: Theme.gapSmall

        Picture {
            source: root.icon.source
            size: Theme.px(17)
            ink: root.dangerous ? Theme.danger : Theme.textMuted
        }
        Text {
            Layout.fillWidth: true
            text: root.text
            textFormat: Text.PlainText
            elide: Text.ElideRight
            font: root.font
            color: root.ink
            Accessible.ignored: true
        }
        Text {
            visible: text !== ""
            text: root.shortcutText
            textFormat: Text.PlainText
            font: root.font
            color: Theme.textMuted
            Accessible.ignored: true
        }
    }
    background: Rectangle {
        radius: Theme.radiusSmall - Theme.gapTiny
        color: root.highlighted ? Theme.hover : "transparent"
    }
}
