// Shows a message as it was typed or generated, with all its marks.
import QtQuick
import Spillway.App
import Spillway.Ui.Theme

TextEdit {
    id: root

    required property string content
    property var marked: [] // where pieces of it that are tinted begin and end, by turns

    objectName: "rawBlock"
    textFormat: TextEdit.PlainText
    readOnly: true
    selectByMouse: true
    selectByKeyboard: true
    activeFocusOnPress: true
    wrapMode: TextEdit.Wrap
    font.family: Theme.monospace
    font.pixelSize: Theme.sizeCode
    color: Theme.text
    selectionColor: Theme.selection
    selectedTextColor: Theme.text

    Accessible.role: Accessible.StaticText
    Accessible.name: root.content
    Accessible.readOnly: true

    PassShortcuts { text: root }
    RawDocument {
        document: root.textDocument
        text: root.content
        marked: root.marked
        ground: Theme.guessed
    }
}
