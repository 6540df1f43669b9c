// Shows a message with all its marks, and, on demand, which parts of it had been guessed ahead.
import QtQuick
import Spillway.Ui.Components
import Spillway.Ui.Theme

Column {
    id: root

    required property string content
    required property var guessed // where pieces begin and end, by turns

    property bool marked: false

    spacing: Theme.gapSmall

    RawText {
        width: root.width
        content: root.content
        marked: root.marked ? root.guessed : []
    }
    ActionButton {
        objectName: "guessMarksButton"
        visible: root.guessed.length > 0
        implicitHeight: Theme.px(30)
        font.pixelSize: Theme.sizeSmall
        text: root.marked ? qsTr("Take the marks away") : qsTr("Mark what was guessed ahead")
        onClicked: root.marked = !root.marked
    }
}
