// Lets the user choose the folder and the speed for fetching models, and enter the token for their account on the hub.
import QtQuick
import QtQuick.Dialogs
import QtQuick.Layouts
import Spillway.App
import Spillway.Ui.Components
import Spillway.Ui.Theme

ColumnLayout {
    id: root

    required property SettingsController settings
    required property Fetching fetching

    function showToken() {
        if (fetching.hasToken)
            removeButton.forceActiveFocus(Qt.OtherFocusReason);
        else
            token.forceActiveFocus(Qt.OtherFocusReason);
    }

    spacing: 0

    onVisibleChanged: {
        if (visible)
            fetching.settleToken(); // the password store may have been opened meanwhile
    }
    Component.onCompleted: fetching.settleToken()

    SettingRow {
        objectName: "fetchFolderRow"
        title: qsTr("Fetched models go to")
        explanation: qsTr("A folder of your choice, or else the cache of Hugging Face, where other programs find them; what comes from elsewhere goes to Spillway’s own folder.")
        effective: root.settings.fetchFolder

        IconButton {
            objectName: "usualFetchFolder"
            visible: root.settings.fetchFolder !== ""
            name: qsTr("Where other programs find them")
            source: "qrc:/icons/undo.svg"
            onClicked: root.settings.setFetchFolder("")
        }
        ActionButton {
            objectName: "chooseFetchFolder"
            text: qsTr("Choose…")
            Accessible.name: qsTr("Choose a folder for fetched models")
            icon.source: "qrc:/icons/folder.svg"
            onClicked: dialog.begin()
        }
    }
    NumberRow {
        objectName: "fetchSpeedRow"
        title: qsTr("Speed of fetching at most")
        explanation: qsTr("Leaves the rest of the line to others. It holds at once.")
        setting: root.settings.fetchMegabytesPerS
        suffix: qsTr(" MB/s")
        zeroText: qsTr("No limit")
    }
    SettingRow {
        id: tokenRow

        objectName: "hubTokenRow"
        title: qsTr("Token of Hugging Face")
        explanation: root.fetching.tokenNote
        effective: root.fetching.tokenTrouble

        TextLine {
            id: token

            objectName: "hubToken"
            Layout.fillWidth: tokenRow.stacked
            Layout.preferredWidth: Theme.px(200)
            Layout.maximumWidth: Theme.px(200)
            visible: !root.fetching.hasToken
            enabled: !root.fetching.keepingToken
            echoMode: TextInput.Password
            inputMethodHints: Qt.ImhSensitiveData | Qt.ImhNoPredictiveText
            placeholderText: qsTr("hf_…")
            Accessible.name: qsTr("Token of Hugging Face")
            onAccepted: root.fetching.keepToken(text)

            Connections {
                target: root.fetching

                function onTokenChanged() {
                    if (root.fetching.hasToken)
                        token.clear(); // a refused text stays, to be corrected
                }
            }
        }
        ActionButton {
            objectName: "keepHubToken"
            visible: !root.fetching.hasToken
            enabled: token.text.trim() !== "" && !root.fetching.keepingToken
            text: qsTr("Keep")
            onClicked: root.fetching.keepToken(token.text)
        }
        ActionButton {
            id: removeButton

            objectName: "removeHubToken"
            visible: root.fetching.keepsToken
            enabled: !root.fetching.keepingToken
            text: qsTr("Remove")
            Accessible.name: qsTr("Remove the token of Hugging Face")
            onClicked: root.fetching.keepToken("")
        }
    }
    FolderDialog {
        id: dialog

        function begin() {
            currentFolder = root.settings.folderOf(SettingsController.Models);
            open();
        }

        title: qsTr("Choose a folder for fetched models")
        onAccepted: root.settings.setFetchFolder(selectedFolder)
    }
}
