// Shows the servers whose models are in the list, and lets the user add one.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Layouts
import Spillway.App
import Spillway.Ui.Components
import Spillway.Ui.Theme

Page {
    id: root

    required property Servers servers

    function takeFocus() {
        form.takeFocus();
    }

    title: qsTr("Servers")
    backName: qsTr("Back to the models")
    backShortcut: ""
    actions: IconButton {
        objectName: "askServers"
        visible: root.servers.all.length > 0
        name: qsTr("Ask them again what they have")
        source: "qrc:/icons/retry.svg"
        onClicked: root.servers.refresh()
    }

    onVisibleChanged: {
        if (visible)
            servers.refreshQuietly();
    }
    Component.onCompleted: servers.refreshQuietly()

    Text {
        Layout.fillWidth: true
        text: qsTr("Models that run elsewhere: vLLM, SGLang, TGI, llama-server, Ollama, LM Studio or Spillway on another machine, or in another program on this one. Once a server is added, its models are in the list of models and answer in the same conversations.")
        textFormat: Text.PlainText
        wrapMode: Text.Wrap
        font.pixelSize: Theme.sizeBody
        lineHeight: Theme.lineHeight
        color: Theme.textMuted
    }
    ServerForm {
        id: form

        objectName: "serverForm"
        Layout.fillWidth: true
        servers: root.servers
    }
    GridLayout {
        id: looking

        Layout.fillWidth: true
        columns: width < Theme.px(420) ? 1 : 3 // large text in a small window
        columnSpacing: Theme.gap
        rowSpacing: Theme.gapSmall

        ActionButton {
            objectName: "lookHere"
            text: root.servers.looking ? qsTr("Stop looking") : qsTr("Look on this computer")
            icon.source: root.servers.looking ? "qrc:/icons/stop.svg" : "qrc:/icons/search.svg"
            onClicked: root.servers.looking ? root.servers.stopLooking() : root.servers.lookHere()
        }
        ProgressLine {
            visible: root.servers.looking
            indeterminate: true
            Accessible.name: qsTr("Looking for servers")
        }
        Text {
            objectName: "nothingHere"
            Layout.fillWidth: true
            visible: text !== "" || looking.columns > 1 // it keeps the others at the left
            text: root.servers.looked && root.servers.found.length === 0 ? qsTr("Nothing new was found where such programs usually listen.") : ""
            textFormat: Text.PlainText
            wrapMode: Text.Wrap
            font.pixelSize: Theme.sizeSmall
            color: Theme.textMuted
        }
    }
    LayoutRepeater {
        model: root.servers.found

        ServerRow {
            required property int index

            objectName: "foundServer" + index
            Layout.fillWidth: true
            addable: true
            onAddRequested: form.take(entry.url, entry.trouble !== "")
        }
    }
    SectionHeading {
        Layout.fillWidth: true
        visible: root.servers.all.length > 0
        text: qsTr("Your servers")
    }
    LayoutRepeater {
        model: root.servers.all

        ServerRow {
            required property int index

            objectName: "server" + index
            Layout.fillWidth: true
            onRemoveRequested: {
                if (entry.hasKey)
                    confirm.ask(entry);
                else
                    root.servers.remove(entry.url);
            }
        }
    }
    ConfirmDialog {
        id: confirm

        property string url
        property string serverName

        function ask(entry: serverEntry) {
            url = entry.url;
            serverName = entry.name;
            open();
        }

        objectName: "confirmRemoveServer"
        question: qsTr("Remove “%1”?").arg(serverName)
        detail: qsTr("Its key is deleted, too.")
        confirmText: qsTr("Remove")
        careful: true
        destructive: true
        onConfirmed: root.servers.remove(url)
    }
    Text {
        Layout.fillWidth: true
        visible: root.servers.all.length > 0
        text: qsTr("To change a server's name or key, add it again.")
        textFormat: Text.PlainText
        wrapMode: Text.Wrap
        font.pixelSize: Theme.sizeSmall
        color: Theme.textMuted
    }
}
