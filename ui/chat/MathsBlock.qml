// A formula on lines of its own: in signs where they say the same, else as it was written.
import QtQuick
import Spillway.App
import QtQuick.Controls
import Spillway.Ui.Components
import Spillway.Ui.Theme

Flickable {
    id: root

    required property string content

    objectName: "mathsBlock"
    implicitHeight: edit.implicitHeight + Theme.px(12)
    height: implicitHeight
    contentWidth: edit.width
    contentHeight: height
    flickableDirection: Flickable.HorizontalFlick
    boundsBehavior: Flickable.StopAtBounds
    interactive: contentWidth > width + 1
    clip: interactive
    ScrollBar.horizontal: ThinScrollBar { policy: root.interactive ? ScrollBar.AsNeeded : ScrollBar.AlwaysOff }

    TextEdit {
        id: edit

        y: Theme.px(6)
        width: Math.max(root.width, implicitWidth)
        text: root.content
        textFormat: TextEdit.PlainText
        readOnly: true
        selectByMouse: true
        selectByKeyboard: true
        horizontalAlignment: TextEdit.AlignHCenter
        font.family: Theme.serif
        font.italic: true
        font.pixelSize: Theme.sizeBody * 1.1
        color: Theme.text
        selectionColor: Theme.selection
        selectedTextColor: Theme.text

        Accessible.role: Accessible.StaticText
        Accessible.name: root.content
        Accessible.readOnly: true

        PassShortcuts { text: edit }
    }
}
