// Takes one line of text.
import QtQuick
import QtQuick.Controls
import Spillway.Ui.Theme

TextField {
    id: root

    property bool wrong: false // its text cannot be used

    implicitHeight: Theme.controlHeight
    leftPadding: Theme.gapSmall + 2
    rightPadding: Theme.gapSmall + 2
    selectByMouse: true
    font.pixelSize: Theme.sizeBody
    color: Theme.text
    selectionColor: Theme.selection
    selectedTextColor: Theme.text
    placeholderTextColor: Theme.textMuted

    Accessible.role: Accessible.EditableText

    background: Rectangle {
        radius: Theme.radiusSmall
        color: Theme.raised
        border.width: 1
        border.color: root.wrong ? Theme.danger : root.activeFocus ? Theme.accent : Theme.borderStrong
    }
}
