// Lets the user choose how models are loaded: this applies at the next load, or at once with the button.
import QtQuick
import QtQuick.Layouts
import Spillway.App
import Spillway.Ui.Components
import Spillway.Ui.Theme

ColumnLayout {
    id: root

    required property SettingsController settings
    required property ModelController models

    readonly property modelFacts open: models.current

    Layout.fillWidth: true
    spacing: 0

    SectionHeading {
        Layout.fillWidth: true
        text: qsTr("Loading a model")
    }
    Notice {
        objectName: "reloadNotice"
        Layout.fillWidth: true
        visible: root.models.reloadNeeded
        kind: Notice.Warning
        dismissible: false
        sentence: qsTr("The model that is open was loaded with other choices; these apply at the next load.")
        actionText: root.models.phase === ModelController.Idle ? qsTr("Reload") : ""
        onActionRequested: root.models.reload()
    }
    NumberRow {
        objectName: "contextRow"
        title: qsTr("Context")
        explanation: qsTr("Tokens that a conversation can hold. More need more memory.")
        setting: root.settings.contextTokens
        zeroText: qsTr("The model's own")
        step: 1024
        effective: root.open.known && root.open.contextInUse > 0 ? qsTr("Now: %1 tokens").arg(Format.count(root.open.contextInUse)) : ""
    }
    ChoiceRow {
        objectName: "kvRow"
        title: qsTr("KV cache")
        explanation: qsTr("How the conversation is kept in memory: q8_0 needs half of what f16 does and loses very little; f32 is exact and large.")
        setting: root.settings.kvType
        choices: root.settings.kvType.names
    }
    NumberRow {
        objectName: "savedKvRow"
        title: qsTr("KV cache on the disk")
        explanation: qsTr("Keeps what the model has read, so that a conversation opens again without being read anew. What has not been used for longest is deleted first. Applies at once; “None” deletes all of it.")
        setting: root.settings.savedKvGib
        zeroText: qsTr("None")
        suffix: qsTr(" GiB")
    }
    NumberRow {
        objectName: "threadsRow"
        title: qsTr("Threads")
        explanation: qsTr("Threads that compute. More than the machine has physical cores makes it slower.")
        setting: root.settings.threads
        zeroText: qsTr("One per core")
    }
}
