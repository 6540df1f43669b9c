// Shows a line of the log.
import QtQuick
import Spillway.Ui.Theme

Rectangle {
    id: root

    required property int index
    required property date time
    required property int level
    required property string text
    required property bool selected

    property bool current: false

    signal chosen(bool extend)

    readonly property var names: [qsTr("Debug"), qsTr("Info"), qsTr("Warning"), qsTr("Error")]

    implicitHeight: Math.max(words.implicitHeight, clock.implicitHeight) + Theme.gapSmall
    radius: Theme.px(4)
    color: selected ? Theme.selection : "transparent"
    border.width: current ? 2 : 0
    border.color: Theme.accent

    Accessible.role: Accessible.ListItem
    Accessible.name: root.names[root.level] + ": " + root.text
    Accessible.selected: root.selected

    MouseArea {
        anchors.fill: parent
        onClicked: mouse => root.chosen(mouse.modifiers & Qt.ShiftModifier)
    }
    Text {
        id: clock

        x: Theme.gapSmall
        y: Theme.gapTiny
        width: Math.max(implicitWidth, Theme.px(62)) // at least: digits differ in width
        text: root.time.toLocaleTimeString(Qt.locale(), "hh:mm:ss")
        textFormat: Text.PlainText
        font.pixelSize: Theme.sizeSmall
        color: Theme.textMuted
    }
    Text {
        id: kind

        anchors.left: clock.right
        anchors.leftMargin: Theme.gapSmall
        y: Theme.gapTiny
        width: Theme.px(76)
        text: root.names[root.level]
        textFormat: Text.PlainText
        elide: Text.ElideRight
        font.pixelSize: Theme.sizeSmall
        font.weight: Font.Medium
        color: root.level === 3 ? Theme.danger : root.level === 2 ? Theme.warning : Theme.textMuted
    }
    Text {
        id: words

        anchors.left: kind.right
        anchors.leftMargin: Theme.gapSmall
        anchors.right: parent.right
        anchors.rightMargin: Theme.gapSmall
        y: Theme.gapTiny
        text: root.text
        textFormat: Text.PlainText
        wrapMode: Text.Wrap
        font.pixelSize: Theme.sizeSmall
        color: Theme.text
    }
}
