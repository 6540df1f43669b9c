// Adds a server: asks for its address, a name and a key, and says what adding it means.
import QtQuick
import QtQuick.Layouts
import Spillway.App
import Spillway.Ui.Components
import Spillway.Ui.Theme

ColumnLayout {
    id: root

    required property Servers servers

    readonly property string host: servers.hostOf(address.text)
    readonly property bool inClear: servers.inClear(address.text)
    readonly property bool sameName: servers.hasNamed(nameField.text, address.text)

    property bool asked: false // the server that is being added was typed here

    function takeFocus() {
        address.forceActiveFocus(Qt.OtherFocusReason);
    }
    // Takes an address that was found on this machine; the key is still to be typed where the server asks for one.
    // Clears the form first: what is in it, above all a key, belongs to another server.
    function take(url: string, asksForKey: bool) {
        if (servers.adding)
            return;
        if (!asksForKey) {
            asked = false;
            servers.add("", url, "");
            return;
        }
        address.text = url;
        nameField.clear();
        key.clear();
        key.forceActiveFocus(Qt.OtherFocusReason);
    }
    function add() {
        if (address.text.trim() === "" || servers.adding)
            return;
        asked = true;
        servers.add(nameField.text, address.text, key.text);
    }

    spacing: Theme.gapSmall

    Connections {
        target: root.servers

        function onAdded() {
            if (!root.asked)
                return;
            if (nameField.activeFocus || key.activeFocus)
                root.takeFocus(); // for the next server
            address.clear();
            nameField.clear();
            key.clear();
        }
    }
    TextLine {
        id: address

        objectName: "serverAddress"
        Layout.fillWidth: true
        enabled: !root.servers.adding
        placeholderText: qsTr("Address, such as 192.168.0.5:8000")
        Accessible.name: qsTr("Address of the server")
        onAccepted: root.add()
        onTextEdited: root.servers.dismissTrouble()
    }
    GridLayout {
        Layout.fillWidth: true
        columns: root.width < Theme.px(420) ? 1 : 3 // large text in a small window
        columnSpacing: Theme.gapSmall
        rowSpacing: Theme.gapSmall

        TextLine {
            id: nameField

            objectName: "serverName"
            Layout.fillWidth: true
            Layout.preferredWidth: 1
            enabled: !root.servers.adding
            maximumLength: 40
            placeholderText: qsTr("Name, if it is to have one")
            Accessible.name: qsTr("Name of the server")
            onAccepted: root.add()
        }
        TextLine {
            id: key

            readonly property bool begun: text !== ""

            objectName: "serverKey"
            Layout.fillWidth: true
            Layout.preferredWidth: 1
            enabled: !root.servers.adding
            echoMode: TextInput.Password
            inputMethodHints: Qt.ImhSensitiveData | Qt.ImhNoPredictiveText
            placeholderText: qsTr("Key, if it asks for one")
            Accessible.name: qsTr("Key for the server")
            onAccepted: root.add()
            onBegunChanged: {
                if (begun)
                    root.servers.lookForStore();
            }
        }
        ActionButton {
            objectName: "addServer"
            visible: !root.servers.adding
            primary: true
            enabled: address.text.trim() !== ""
            text: qsTr("Add")
            onClicked: root.add()
        }
        ActionButton {
            objectName: "stopAdding"
            visible: root.servers.adding
            text: qsTr("Stop")
            onClicked: root.servers.stopAdding()
        }
    }
    ProgressLine {
        objectName: "serverProgress"
        Layout.fillWidth: true
        visible: root.servers.adding
        indeterminate: true
        Accessible.name: qsTr("Asking %1 what it is").arg(root.host)
    }
    Text {
        objectName: "whatAddingMeans"
        Layout.fillWidth: true
        visible: root.host !== ""
        text: qsTr("Spillway then asks %1 which models it has. What you write to one of them goes there with the whole conversation, each time.").arg(root.host)
        textFormat: Text.PlainText
        wrapMode: Text.Wrap
        font.pixelSize: Theme.sizeSmall
        lineHeight: Theme.lineHeight
        color: Theme.textMuted
    }
    Text {
        objectName: "keyNote"
        Layout.fillWidth: true
        visible: key.text !== "" && text !== ""
        text: root.servers.keyNote
        textFormat: Text.PlainText
        wrapMode: Text.Wrap
        font.pixelSize: Theme.sizeSmall
        lineHeight: Theme.lineHeight
        color: Theme.textMuted
    }
    Text {
        objectName: "sameName"
        Layout.fillWidth: true
        visible: root.sameName
        text: qsTr("A server of this name is there already. The two answer for each other where they have the same model: the one that has less to do, or the other when it cannot.")
        textFormat: Text.PlainText
        wrapMode: Text.Wrap
        font.pixelSize: Theme.sizeSmall
        lineHeight: Theme.lineHeight
        color: Theme.textMuted
    }
    Text {
        objectName: "inClearWarning"
        Layout.fillWidth: true
        visible: root.inClear
        text: qsTr("The way there is not encrypted: others in the same network may read the key and what is said.")
        textFormat: Text.PlainText
        wrapMode: Text.Wrap
        font.pixelSize: Theme.sizeSmall
        lineHeight: Theme.lineHeight
        color: Theme.warning
    }
    Notice {
        objectName: "serverTrouble"
        Layout.fillWidth: true
        visible: root.servers.trouble !== ""
        sentence: root.servers.trouble
        onDismissRequested: root.servers.dismissTrouble()
    }
}
