// Holds the controls that choose where the model lies. Each choice applies from the next token on.
import QtQuick
import QtQuick.Layouts
import Spillway.App
import Spillway.Ui.Components
import Spillway.Ui.Theme

ColumnLayout {
    id: root

    required property PlacementController placement
    required property DeviceController devices

    spacing: Theme.gapSmall

    Notice {
        Layout.fillWidth: true
        visible: root.placement.trouble !== ""
        sentence: root.placement.trouble
        onDismissRequested: root.placement.dismissTrouble()
    }
    DeviceRow {
        Layout.fillWidth: true
        placement: root.placement
        devices: root.devices
    }
    DeviceControls {
        Layout.fillWidth: true
        visible: root.placement.available
        placement: root.placement
    }
    KvTypeRow {
        Layout.fillWidth: true
        placement: root.placement
    }
}
