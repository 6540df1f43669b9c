// Lets the user choose the device that computes the model, and how much of its memory is used. A choice applies at
// once.
import QtQuick
import QtQuick.Layouts
import Spillway.App
import Spillway.Ui.Components
import Spillway.Ui.Theme

ColumnLayout {
    id: root

    required property SettingsController settings
    required property DeviceController devices
    required property PlacementController placement

    readonly property bool fromHere: !settings.device.overridden // not given on the command line, with its numbers

    Layout.fillWidth: true
    spacing: 0

    SectionHeading {
        Layout.fillWidth: true
        text: qsTr("Device")
    }
    Notice {
        objectName: "deviceTrouble"
        Layout.fillWidth: true
        visible: root.placement.trouble !== ""
        sentence: root.placement.trouble
        onDismissRequested: root.placement.dismissTrouble()
    }
    SettingRow {
        id: deviceRow

        objectName: "deviceRow"
        title: qsTr("Device")
        explanation: qsTr("What computes the model. Applies at once: layers and conversation move there, also in mid-answer.")
        setting: root.settings.device
        effective: root.placement.layers === 0 ? "" : !root.placement.available ? qsTr("Now: all layers on the CPU")
            : root.placement.emulated ? qsTr("Now: %1 of %2 layers on the emulated device").arg(root.placement.deviceLayers).arg(root.placement.layers)
            : qsTr("Now: %1 of %2 layers on the device").arg(root.placement.deviceLayers).arg(root.placement.layers)

        ChoiceBox {
            objectName: "choice"
            Layout.fillWidth: deviceRow.stacked
            Layout.maximumWidth: implicitWidth
            implicitWidth: Theme.px(280)
            name: qsTr("Device")
            model: root.devices.names
            chosen: root.devices.current
            onActivated: index => root.devices.choose(index)
        }
    }
    Text {
        objectName: "noGpu"
        Layout.fillWidth: true
        visible: text !== ""
        text: root.devices.noGpu
        textFormat: Text.PlainText
        wrapMode: Text.Wrap
        font.pixelSize: Theme.sizeSmall
        color: Theme.textMuted
    }
    RowLayout {
        objectName: "deviceMoving"
        Layout.fillWidth: true
        visible: root.placement.moving
        spacing: Theme.gap

        Text {
            Layout.fillWidth: true
            text: qsTr("Moving layers: %1, going to %2").arg(root.placement.deviceLayers).arg(root.placement.wantedLayers)
            textFormat: Text.PlainText
            wrapMode: Text.Wrap
            font.pixelSize: Theme.sizeSmall
            color: Theme.textMuted
        }
        ActionButton {
            objectName: "deviceCancel"
            text: qsTr("Cancel")
            onClicked: root.placement.cancelMove()
        }
    }
    NumberRow {
        objectName: "emulatedRow"
        visible: root.fromHere && root.devices.emulated
        title: qsTr("Emulated memory")
        explanation: qsTr("A graphics memory of this size, made of RAM; the CPU does its work. It shows what a small memory does, and makes nothing faster.")
        setting: root.settings.emulatedMib
        zeroText: qsTr("For 1,024 tokens")
        suffix: qsTr(" MiB")
        step: 64
    }
    NumberRow {
        objectName: "linkRow"
        visible: root.fromHere && root.devices.emulated
        title: qsTr("Emulated link")
        explanation: qsTr("How fast bytes travel between RAM and that memory. PCIe 4.0 with 16 lanes does about 25.")
        setting: root.settings.linkGb
        suffix: qsTr(" GB/s")
    }
    NumberRow {
        objectName: "gpuRow"
        visible: root.fromHere && root.devices.onGpu
        title: qsTr("Graphics memory")
        explanation: qsTr("What Spillway may use of it; the rest is left to other programs.")
        setting: root.settings.gpuMib
        zeroText: qsTr("As much as is free")
        suffix: qsTr(" MiB")
        step: 256
    }
}
