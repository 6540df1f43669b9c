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

    readonly property bool choosing: slider.pressed || applyTimer.running
    readonly property bool kept: !choosing && (asking || settling.running) // the slider stays where it was let go
    readonly property bool asking: placement.asking // what was chosen is not begun yet, and may take seconds

    function apply() {
        if (slider.value !== placement.wantedLayers || placement.automatic || asking) // then another wish is on its way
            placement.setLayers(slider.value);
        settling.restart();
        applyTimer.stop();
    }

    onAskingChanged: {
        if (!asking)
            settling.restart();
    }

    spacing: Theme.gapSmall

    Text {
        id: label

        objectName: "splitLabel"
        text: root.placement.moving && !root.choosing
            ? qsTr("Moving layers: %1, going to %2").arg(root.placement.deviceLayers).arg(root.placement.wantedLayers)
            : qsTr("%1 of %2 layers").arg(root.choosing || root.kept ? slider.value : root.placement.deviceLayers).arg(root.placement.layers)
        textFormat: Text.PlainText
        font.pixelSize: Theme.sizeSmall
        color: Theme.textMuted
        Accessible.ignored: true
    }
    ThinSlider {
        id: slider

        objectName: "splitSlider"
        Layout.fillWidth: true
        Layout.minimumWidth: Theme.px(80)
        name: qsTr("Layers on the device: %1 of %2").arg(value).arg(to)
        from: 0
        to: Math.max(1, root.placement.layers)
        stepSize: 1
        snapMode: Slider.SnapAlways
        property bool keyed: false // it is a key that presses it

        onPressedChanged: {
            if (pressed)
                return;
            if (keyed)
                applyTimer.restart(); // when it has come to rest
            else
                root.apply();
            keyed = false;
        }
        Keys.onPressed: event => {
            keyed = true;
            event.accepted = false;
        }
        Keys.onReturnPressed: root.apply()
        Keys.onEscapePressed: event => {
            event.accepted = applyTimer.running;
            applyTimer.stop();
        }

        // Where the layers are, unless somebody is choosing.
        Binding {
            target: slider
            property: "value"
            value: Math.min(slider.to, root.placement.moving ? root.placement.wantedLayers : root.placement.deviceLayers)
            when: !root.choosing && !root.asking && !settling.running // not by `kept`, which is a moment behind
            restoreMode: Binding.RestoreNone
        }
        // Until the first frame has come that knows it.
        Timer {
            id: settling
            interval: 400
        }
        Timer {
            id: applyTimer

            interval: 700
            onTriggered: root.apply()
        }
        SplitPreview {
            objectName: "splitPreview"
            visible: root.choosing
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
        Keys.onReturnPressed: clicked()
    }
    IconButton {
        objectName: "cancelMove"
        visible: root.placement.moving
        size: Theme.px(28)
        pictureSize: Theme.px(18)
        name: qsTr("Leave the layers where they are now")
        source: "qrc:/icons/stop.svg"
        onClicked: root.placement.cancelMove()
        Keys.onReturnPressed: clicked()
    }
}
