// A block of plain text that can be selected and grows while it streams. Never rich text: what a model writes is shown as
// it is.
import QtQuick
import Spillway.App
import Spillway.Ui.Theme

TextEdit {
    id: root

    required property string content

    // Only what is new is laid out, and a selection survives.
    onContentChanged: {
        if (length > 0 && content.startsWith(text))
            insert(length, content.slice(length));
        else
            replace();
    }
    Component.onCompleted: replace()

    function replace() {
        text = content;
        TextLayout.setLineHeight(textDocument, 125);
    }

    objectName: "textBlock"
    textFormat: TextEdit.PlainText
    readOnly: true
    selectByMouse: true
    selectByKeyboard: true
    activeFocusOnPress: true
    wrapMode: TextEdit.Wrap
    font.pixelSize: Theme.sizeBody
    color: Theme.text
    selectionColor: Theme.selection
    selectedTextColor: Theme.text

    Accessible.role: Accessible.StaticText
    Accessible.name: root.content
    Accessible.readOnly: true
}
