// Lets the user choose a preset, keep the present settings as one, and rename and delete their own.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Layouts
import Spillway.App
import Spillway.Ui.Components
import Spillway.Ui.Theme

ColumnLayout {
    id: root

    required property ConversationSettingsController settings

    readonly property bool own: settings.preset >= 0 && !builtIn(settings.preset)
    property bool naming: false
    property bool renaming: false
    readonly property int chosen: settings.preset

    onChosenChanged: {
        if (renaming)
            naming = false; // the typed name was for the preset before
    }
    function builtIn(row: int): bool {
        const presets = settings.presets;
        return presets.data(presets.index(row, 0), PresetModel.BuiltInRole);
    }
    function presetName(row: int): string {
        const presets = settings.presets;
        return row < 0 ? "" : presets.data(presets.index(row, 0), PresetModel.NameRole);
    }
    function ask(rename: bool) {
        renaming = rename;
        naming = true;
        refusal.text = "";
        nameField.text = own ? presetName(settings.preset) : "";
        nameField.selectAll();
        nameField.forceActiveFocus(Qt.OtherFocusReason);
    }
    function removeChosen() {
        settings.removePreset(settings.preset);
        saveButton.forceActiveFocus(Qt.OtherFocusReason);
    }
    function done() {
        refusal.text = renaming ? settings.renamePreset(settings.preset, nameField.text) : settings.savePreset(nameField.text);
        if (refusal.text === "") {
            naming = false;
            saveButton.forceActiveFocus(Qt.OtherFocusReason);
        }
    }

    spacing: Theme.gapSmall

    Flow {
        Layout.fillWidth: true
        spacing: Theme.gapSmall

        Accessible.role: Accessible.Grouping
        Accessible.name: qsTr("Presets")

        Repeater {
            model: root.settings.presets
            delegate: PresetChip {
                required property int index
                required property string name

                objectName: "preset" + index
                text: name
                current: index === root.settings.preset
                changed: root.settings.presetChanged
                onClicked: root.settings.applyPreset(index)
            }
        }
    }
    RowLayout {
        visible: !root.naming
        spacing: Theme.gapSmall

        ActionButton {
            id: saveButton

            objectName: "savePreset"
            text: qsTr("Save as a preset…")
            onClicked: root.ask(false)
        }
        IconButton {
            objectName: "renamePreset"
            visible: root.own
            name: qsTr("Rename %1").arg(root.presetName(root.settings.preset))
            source: "qrc:/icons/edit.svg"
            onClicked: root.ask(true)
        }
        IconButton {
            objectName: "removePreset"
            visible: root.own
            name: qsTr("Delete %1").arg(root.presetName(root.settings.preset))
            source: "qrc:/icons/remove.svg"
            onClicked: {
                if (root.settings.presetChanged)
                    confirm.open();
                else
                    root.removeChosen();
            }
        }
    }
    RowLayout {
        visible: root.naming
        spacing: Theme.gapSmall

        TextLine {
            id: nameField

            objectName: "presetName"
            Layout.fillWidth: true
            placeholderText: qsTr("Name of the preset")
            wrong: refusal.text !== ""
            Accessible.name: placeholderText
            onAccepted: root.done()
            Keys.onEscapePressed: {
                root.naming = false;
                saveButton.forceActiveFocus(Qt.OtherFocusReason);
            }
        }
        ActionButton {
            objectName: "presetNameDone"
            text: root.renaming ? qsTr("Rename") : qsTr("Save")
            onClicked: root.done()
        }
    }
    Text {
        id: refusal

        objectName: "presetRefusal"
        Layout.fillWidth: true
        visible: root.naming && text !== ""
        textFormat: Text.PlainText
        wrapMode: Text.Wrap
        font.pixelSize: Theme.sizeSmall
        color: Theme.danger

        Accessible.role: Accessible.AlertMessage
        Accessible.name: text
    }
    // Where the conversation has the preset's values, these stay with it.
    ConfirmDialog {
        id: confirm

        objectName: "confirmRemovePreset"
        question: qsTr("Delete “%1”?").arg(root.presetName(root.settings.preset))
        detail: qsTr("This conversation keeps the settings it has, which are not those of the preset.")
        confirmText: qsTr("Delete")
        careful: true
        destructive: true
        onConfirmed: root.removeChosen()
    }
}
