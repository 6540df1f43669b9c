// Shows the settings, which are kept. Each applies at once, unless it says otherwise.
import QtQuick
import QtQuick.Layouts
import Spillway.App
import Spillway.Ui.Components
import Spillway.Ui.Theme

Page {
    id: root

    required property SettingsController settings
    required property ModelController models
    required property ProgramController program
    required property Pressure pressure
    required property Fetching fetching

    // Scrolls to the row where the hub's token is entered or removed.
    function showToken() {
        fetchRows.showToken();
    }

    title: qsTr("Settings")

    Notice {
        objectName: "settingsTrouble"
        Layout.fillWidth: true
        visible: root.settings.trouble !== ""
        kind: Notice.Warning
        sentence: root.settings.trouble
        onDismissRequested: root.settings.dismissTrouble()
    }
    SectionHeading {
        Layout.fillWidth: true
        text: qsTr("Window")
    }
    ChoiceRow {
        objectName: "themeRow"
        title: qsTr("Theme")
        explanation: qsTr("Light, dark, or as the desktop has it.")
        setting: root.settings.theme
        choices: [qsTr("As the desktop"), qsTr("Light"), qsTr("Dark")]
    }
    NumberRow {
        objectName: "fontRow"
        title: qsTr("Size of text")
        explanation: qsTr("The whole window follows it. Also with Ctrl and plus, minus, 0.")
        setting: root.settings.fontPercent
        suffix: qsTr(" %")
        step: 10
    }
    ChoiceRow {
        objectName: "languageRow"
        title: qsTr("Language")
        explanation: qsTr("Of the window; a model answers in the language it is asked in.")
        setting: root.settings.language
        choices: [qsTr("As the system"), "English", "Deutsch"]
    }
    ChoiceRow {
        objectName: "wrapRow"
        title: qsTr("Long lines of code")
        explanation: qsTr("They scroll sideways, or go on in the next line. Also with the button above any code.")
        setting: root.settings.wrapCode
        choices: [qsTr("Scroll"), qsTr("Wrap")]
    }
    SectionHeading {
        Layout.fillWidth: true
        text: qsTr("Models")
    }
    ChoiceRow {
        objectName: "startRow"
        title: qsTr("Open at start")
        explanation: qsTr("Which model Spillway opens when it starts. The guide is small and comes with it.")
        setting: root.settings.startWith
        choices: [qsTr("The last one"), qsTr("The guide"), qsTr("None")]
    }
    ChoiceRow {
        objectName: "draftRow"
        title: qsTr("Guess ahead")
        explanation: qsTr("Where a conversation repeats itself, the next words are guessed and checked in one step. The answer is the same to the letter; it only comes faster.")
        setting: root.settings.draft
        choices: [qsTr("On"), qsTr("Off")]
    }
    FolderRows {
        objectName: "folderRows"
        settings: root.settings
    }
    DeviceSection {
        objectName: "deviceSection"
        settings: root.settings
        devices: root.pressure.devices
        placement: root.pressure.placement
    }
    LoadSection {
        objectName: "loadSection"
        settings: root.settings
        models: root.models
    }
    SectionHeading {
        Layout.fillWidth: true
        text: qsTr("Privacy")
    }
    Text {
        objectName: "privacy"
        Layout.fillWidth: true
        text: qsTr("Spillway uses the network for nothing but what you permit here. It sends nothing by itself and looks for no updates. What you type and what is answered stays on this computer, in %1. It is never written to the log.").arg(root.program.dataFolder)
        textFormat: Text.PlainText
        wrapMode: Text.Wrap
        font.pixelSize: Theme.sizeBody
        lineHeight: Theme.lineHeight
        color: Theme.text
    }
    ChoiceRow {
        objectName: "findModelsRow"
        visible: root.fetching.available
        title: qsTr("Find and fetch models")
        explanation: qsTr("Contacts %1 and the servers that it names for the files; another one only where you enter its address, or one of Ollama’s names.").arg(root.fetching.host)
        setting: root.settings.findModels
        choices: [qsTr("Not permitted"), qsTr("Permitted")]
    }
    FetchRows {
        id: fetchRows

        objectName: "fetchRows"
        Layout.fillWidth: true
        visible: root.fetching.available
        settings: root.settings
        fetching: root.fetching
    }
    ContactRows {
        objectName: "contactRows"
        Layout.fillWidth: true
        visible: root.fetching.available
        contacts: root.fetching.contacts
    }
    ChoiceRow {
        objectName: "logRow"
        title: qsTr("Log")
        explanation: qsTr("How much is written to the log, for finding faults.")
        setting: root.settings.logLevel
        choices: [qsTr("Everything"), qsTr("Normal"), qsTr("Warnings"), qsTr("Errors")]
    }
}
