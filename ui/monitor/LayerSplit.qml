// Lets the user choose how many layers lie on the device: a slider that says what it would bring before anything moves.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Controls
import QtQuick.Layouts
import Spillway.App
import Spillway.Ui.Components
import Spillway.Ui.Theme

RowLayout {
    id: root

    required property PlacementController placement

    spacing: Theme.gapSmall

    Text {
        id: label

        objectName: "splitLabel"
        text: root.placement.moving && !slider.choosing
            ? qsTr("Moving layers: %1, going to %2").arg(root.placement.deviceLayers).arg(root.placement.wantedLayers)
            : qsTr("%1 of %2 layers").arg(slider.choosing || slider.kept ? slider.value : root.placement.deviceLayers).arg(root.placement.layers)
        textFormat: Text.PlainText
        font.pixelSize: Theme.sizeSmall
        color: Theme.textMuted
        Accessible.ignored: true
    }
    SettlingSlider {
        id: slider

        objectName: "splitSlider"
        Layout.fillWidth: true
        Layout.minimumWidth: Theme.px(80)
        name: qsTr("Layers on the device: %1 of %2").arg(value).arg(to)
        from: 0
        to: Math.max(1, root.placement.layers)
        stepSize: 1
        snapMode: Slider.SnapAlways
        reached: Math.min(to, root.placement.moving ? root.placement.wantedLayers : root.placement.deviceLayers)
        asking: root.placement.asking
        restMs: 700
        onChosen: root.placement.setLayers(value)

        function changes(): bool {
            return value !== root.placement.wantedLayers || root.placement.automatic;
        }

        SplitPreview {
            objectName: "splitPreview"
            visible: slider.choosing
            placement: root.placement
            layers: slider.value
            y: slider.height + Theme.gapSmall
            x: Math.max(-slider.x, (slider.width - width) / 2)
        }
    }
    ActionButton {
        objectName: "splitAuto"
        visible: !root.placement.moving
        implicitHeight: Theme.px(28)
        leftPadding: Theme.gapSmall
        rightPadding: Theme.gapSmall
        font.pixelSize: Theme.sizeSmall
        text: qsTr("Auto")
        icon.source: root.placement.automatic ? "qrc:/icons/check.svg" : ""
        icon.width: Theme.px(16)
        icon.height: Theme.px(16)
        spacing: Theme.px(4)
        Accessible.name: root.placement.automatic ? qsTr("As many layers as fit: chosen") : qsTr("As many layers as fit")
        onClicked: root.placement.setAutomatic()
    }
    IconButton {
        objectName: "cancelMove"
        visible: root.placement.moving
        size: Theme.px(28)
        pictureSize: Theme.px(18)
        name: qsTr("Leave the layers where they are now")
        source: "qrc:/icons/stop.svg"
        onClicked: root.placement.cancelMove()
    }
}
