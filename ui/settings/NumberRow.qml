// Shows a setting that is a number.
import QtQuick
import Spillway.Ui.Components

SettingRow {
    id: root

    property string zeroText: ""
    property string suffix: ""
    property int step: 1
    property bool plain: false

    NumberBox {
        id: box

        objectName: "number"
        name: root.title
        zeroText: root.zeroText
        suffix: root.suffix
        plain: root.plain
        from: root.setting.lowest
        to: root.setting.highest
        stepSize: root.step
        value: root.setting.value
        onValueModified: root.setting.value = value
    }

    // Set by hand, since typing breaks the box's binding.
    Connections {
        target: root.setting

        function onChanged() {
            box.value = root.setting.value;
        }
    }
}
