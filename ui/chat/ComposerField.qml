// Takes the text of the message, and the keys that mean something in it.
import QtQuick
import QtQuick.Controls
import Spillway.Ui.Theme

TextArea {
    id: root

    // A conversation was chosen, and the column with its row is hidden now: Del still deletes it, until another key or
    // click.
    property bool rowMeant: false

    signal removeRequested // that conversation is to be deleted
    signal sendRequested
    signal editLastRequested
    signal pasteRequested
    signal undoRequested // there is nothing to undo here

    textFormat: TextEdit.PlainText
    wrapMode: TextEdit.Wrap
    selectByMouse: true
    padding: Theme.gapSmall
    font.pixelSize: Theme.sizeBody
    color: Theme.text
    selectionColor: Theme.selection
    selectedTextColor: Theme.text
    placeholderTextColor: Theme.textMuted
    background: null

    Accessible.role: Accessible.EditableText
    Accessible.name: qsTr("Message")
    Accessible.multiLine: true

    onTextChanged: rowMeant = false
    onPressed: rowMeant = false
    onActiveFocusChanged: rowMeant = false

    // Tab moves to the next control, as everywhere; a message needs no tab characters.
    Keys.onTabPressed: nextItemInFocusChain(true).forceActiveFocus(Qt.TabFocusReason)
    Keys.onBacktabPressed: nextItemInFocusChain(false).forceActiveFocus(Qt.BacktabFocusReason)
    Keys.onPressed: event => {
        const meant = rowMeant;
        rowMeant = false;
        const enter = event.key === Qt.Key_Return || event.key === Qt.Key_Enter;
        if (enter && !(event.modifiers & Qt.ShiftModifier) && !inputMethodComposing) {
            event.accepted = true;
            sendRequested();
        } else if (meant && event.key === Qt.Key_Delete && !(event.modifiers & ~Qt.KeypadModifier)) {
            event.accepted = true;
            removeRequested();
        } else if (event.matches(StandardKey.Paste)) {
            event.accepted = true;
            pasteRequested();
        } else if (event.matches(StandardKey.Undo) && !canUndo) {
            event.accepted = true;
            undoRequested();
        } else if (event.key === Qt.Key_Up && length === 0 && !(event.modifiers & ~Qt.KeypadModifier)) {
            event.accepted = true;
            editLastRequested();
        }
    }
}
