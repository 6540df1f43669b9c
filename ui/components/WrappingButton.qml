// Puts its words on another line where there is no room for all of them in one.
import QtQuick
import Spillway.Ui.Theme

ActionButton {
    id: root

    implicitHeight: Math.max(Theme.controlHeight, contentItem.implicitHeight + 2 * Theme.gapSmall)

    contentItem: Text {
        text: root.text
        textFormat: Text.PlainText
        wrapMode: Text.Wrap
        horizontalAlignment: Text.AlignHCenter
        verticalAlignment: Text.AlignVCenter
        font: root.font
        color: root.ink
        Accessible.ignored: true
    }
}
