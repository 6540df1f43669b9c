// Shows the page for the local server, with which Spillway answers other programs of this computer: its switch, the
// address for them, and their requests. (Servers that Spillway asks are on the page of models.)
import QtQuick
import QtQuick.Layouts
import Spillway.App
import Spillway.Ui.Components
import Spillway.Ui.Settings
import Spillway.Ui.Theme

Page {
    id: root

    required property ServerController server

    readonly property string stateText: {
        switch (server.state) {
        case ServerController.Starting: return qsTr("It is being switched on.");
        case ServerController.On: return qsTr("Programs are answered at %1.").arg(server.host);
        case ServerController.Stopping: return qsTr("It ends what still runs.");
        }
        return qsTr("Nothing listens, so no program reaches Spillway.");
    }

    readonly property string withoutPath: qsTr("Clients of Anthropic and Ollama take the address without /v1.")

    function takeFocus() {
        onOff.forceActiveFocus(Qt.OtherFocusReason);
    }
    // Switches the server by a key, only once while it is held.
    function switchBy(event: var) {
        if (!event.isAutoRepeat)
            server.on = !server.on;
    }

    title: qsTr("Local server")

    Text {
        Layout.fillWidth: true
        text: qsTr("Other programs on this computer can use the model that is open here: editors, agents and scripts that speak the API of OpenAI, Anthropic or Ollama. They are answered side by side with your conversations. No other computer reaches it, and it is off at every start.")
        textFormat: Text.PlainText
        wrapMode: Text.Wrap
        font.pixelSize: Theme.sizeBody
        lineHeight: Theme.lineHeight
        color: Theme.textMuted
    }
    Notice {
        objectName: "localServerTrouble"
        Layout.fillWidth: true
        visible: root.server.trouble !== ""
        sentence: root.server.trouble
        actionText: root.server.keyUseless ? qsTr("Make a new key") : ""
        onActionRequested: root.server.makeKey()
        onDismissRequested: root.server.dismissTrouble()
    }
    RowLayout {
        Layout.fillWidth: true
        Layout.topMargin: Theme.gapSmall
        spacing: Theme.gap

        ChoiceBar {
            id: onOff

            objectName: "onOff"
            name: qsTr("Local server")
            choices: [qsTr("Off"), qsTr("On")]
            current: root.server.on ? 1 : 0
            onChosen: choice => root.server.on = choice === 1
            Keys.onSpacePressed: event => root.switchBy(event)
            Keys.onReturnPressed: event => root.switchBy(event)
            Keys.onEnterPressed: event => root.switchBy(event)
        }
        Text {
            objectName: "serverState"
            Layout.fillWidth: true
            text: root.stateText
            textFormat: Text.PlainText
            wrapMode: Text.Wrap
            font.pixelSize: Theme.sizeBody
            color: root.server.state === ServerController.On ? Theme.text : Theme.textMuted
        }
    }
    Notice {
        objectName: "nothingToServe"
        Layout.fillWidth: true
        visible: root.server.on && root.server.model === ""
        kind: Notice.Warning
        dismissible: false
        sentence: root.server.elsewhere ? qsTr("The open model runs on a server elsewhere: programs have to ask that one themselves.")
                                        : qsTr("No model is open: programs are told to come again.")
    }
    SectionHeading {
        Layout.fillWidth: true
        text: qsTr("Point your client at")
    }
    CopyRow {
        objectName: "addressRow"
        Layout.fillWidth: true
        title: qsTr("Address")
        copyName: qsTr("Copy the address")
        line: root.server.address
        onCopyRequested: root.server.copyAddress()
    }
    KeyRow {
        objectName: "keyRow"
        Layout.fillWidth: true
        visible: root.server.key !== "" && root.server.asksKey.value === 1
        server: root.server
    }
    Text {
        objectName: "modelLine"
        Layout.fillWidth: true
        text: root.server.model === "" ? root.withoutPath : qsTr("The model is called %1.").arg(root.server.model) + " " + root.withoutPath
        textFormat: Text.PlainText
        wrapMode: Text.Wrap
        font.pixelSize: Theme.sizeSmall
        color: Theme.textMuted
    }
    NumberRow {
        objectName: "portRow"
        title: qsTr("Port")
        explanation: qsTr("Choosing another port ends the answers that are being written.")
        setting: root.server.port
        plain: true
    }
    ChoiceRow {
        objectName: "asksKeyRow"
        title: qsTr("Ask for a key")
        explanation: qsTr("Without one, every program and every user of this computer may use the model. The key is kept in a file that only you can read.")
        setting: root.server.asksKey
        choices: [qsTr("No"), qsTr("Yes")]
    }
    ProgramRows {
        objectName: "programRows"
        Layout.fillWidth: true
        visible: root.server.on
        server: root.server
    }
    RequestRows {
        objectName: "requestRows"
        Layout.fillWidth: true
        requests: root.server.requests
    }
}
