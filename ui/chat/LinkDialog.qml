// Asks before a link of a message is opened, with the address in sight: of a very long one where it leads and how it begins.
import QtQuick
import Spillway.App
import Spillway.Ui.Components
import Spillway.Ui.Theme

ConfirmDialog {
    id: root

    property string link: ""

    function ask(address: string) {
        link = Links.safe(address);
        if (link !== "")
            open();
    }

    objectName: "linkDialog"
    question: qsTr("Open this address?")
    detail: Format.filled(qsTr("It leads to %1.\n\n%2"), [Links.target(root.link), root.link])
    confirmText: qsTr("Open")
    onConfirmed: Links.open(root.link)
}
