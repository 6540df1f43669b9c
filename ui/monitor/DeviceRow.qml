// Lets the user choose the device that computes the model, also while it answers.
import QtQuick
import QtQuick.Layouts
import Spillway.App
import Spillway.Ui.Components
import Spillway.Ui.Theme

ColumnLayout {
    id: root

    required property PlacementController placement
    required property DeviceController devices

    spacing: Theme.gapTiny

    Text {
        text: qsTr("Device")
        textFormat: Text.PlainText
        font.pixelSize: Theme.sizeSmall
        color: Theme.textMuted
    }
    ChoiceBox {
        objectName: "deviceBox"
        Layout.fillWidth: true
        name: qsTr("What computes the model")
        implicitHeight: Theme.px(32)
        font.pixelSize: Theme.sizeSmall
        model: root.devices.names
        chosen: root.devices.current
        onActivated: index => root.devices.choose(index)
    }
    Text {
        objectName: "noGpu"
        Layout.fillWidth: true
        visible: text !== ""
        text: root.devices.noGpu
        textFormat: Text.PlainText
        wrapMode: Text.Wrap
        font.pixelSize: Theme.px(12)
        color: Theme.textMuted
    }
    Text {
        objectName: "noDevice"
        Layout.fillWidth: true
        visible: !root.placement.available
        text: qsTr("No device: the CPU computes all layers from RAM. With one there is a slider here for what lies on it.")
        textFormat: Text.PlainText
        wrapMode: Text.Wrap
        font.pixelSize: Theme.px(12)
        color: Theme.textMuted
    }
    ActionButton {
        objectName: "useCpu"
        Layout.fillWidth: true
        visible: root.devices.emulated
        implicitHeight: Theme.px(32)
        font.pixelSize: Theme.sizeSmall
        text: qsTr("Use the CPU again")
        onClicked: root.devices.useCpu()
    }
}
