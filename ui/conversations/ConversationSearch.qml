// Takes the words to look for in conversations. Down goes to what was found, Esc ends the search.
import QtQuick
import Spillway.Ui.Components

SearchField {
    id: root

    signal downRequested
    signal firstRequested
    signal leaveRequested

    objectName: "searchField"
    name: qsTr("Search conversations")
    placeholderText: qsTr("Search")
    hint: qsTr("Ctrl+K")

    onAccepted: firstRequested()
    Keys.onDownPressed: downRequested()
    Keys.onShortcutOverride: event => event.accepted = event.key === Qt.Key_Escape || event.key === Qt.Key_Delete
    Keys.onEscapePressed: {
        if (text === "")
            leaveRequested();
        else
            clear();
    }
}
