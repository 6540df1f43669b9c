// Shows the key that programs have to send, hidden at first, and copies it or makes a new one.
import QtQuick
import Spillway.App
import Spillway.Ui.Components

CopyRow {
    id: root

    required property ServerController server

    property bool shown: false

    title: qsTr("Key")
    copyName: qsTr("Copy the key")
    line: shown ? root.server.key : "••••••••••••••••"
    onCopyRequested: root.server.copyKey()
    onVisibleChanged: shown = false

    ActionButton {
        objectName: "showKey"
        text: root.shown ? qsTr("Hide") : qsTr("Show")
        Accessible.name: root.shown ? qsTr("Hide the key") : qsTr("Show the key")
        onClicked: root.shown = !root.shown
    }
    IconButton {
        objectName: "newKey"
        name: qsTr("Make a new key")
        source: "qrc:/icons/retry.svg"
        onClicked: confirm.open()

        ConfirmDialog {
            id: confirm

            objectName: "confirmNewKey"
            question: qsTr("Make a new key?")
            detail: qsTr("Programs with the old one are no longer let in.")
            confirmText: qsTr("Make a new key")
            careful: true
            destructive: true
            onConfirmed: root.server.makeKey()
        }
    }
}
