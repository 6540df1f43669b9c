// Shows a setting with several choices.
import QtQuick
import Spillway.Ui.Components

SettingRow {
    id: root

    required property var choices // their names, in the order of the setting

    ChoiceBox {
        objectName: "choice"
        name: root.title
        model: root.choices
        chosen: root.setting.value
        onActivated: index => root.setting.value = index
    }
}
