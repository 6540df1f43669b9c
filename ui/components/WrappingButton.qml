// Draws a button that puts its words on several lines where there is no room for them in one.
import QtQuick
import Spillway.Ui.Theme

ActionButton {
    id: root

    required property int room // px of width that there are; 0: not known yet

    readonly property int wordsRoom: room - leftPadding - rightPadding

    // Whole pixels, as layouts assign them. Neither depends on the size that a layout assigns: the words are measured
    // for `room`.
    implicitWidth: Math.ceil(measure.contentWidth) + leftPadding + rightPadding
    implicitHeight: Math.max(Theme.controlHeight, Math.ceil(measure.contentHeight) + 2 * Theme.gapSmall)

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

    Text {
        id: measure

        visible: false
        width: root.wordsRoom > 0 ? root.wordsRoom : 10000
        text: root.text
        textFormat: Text.PlainText
        wrapMode: Text.Wrap
        font: root.font
    }
}
