// Lets the user choose of how many layers the routed experts stay in RAM while the rest of these layers is on the
// device.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Layouts
import Spillway.App
import Spillway.Ui.Components
import Spillway.Ui.Theme

RowLayout {
    id: root

    objectName: "expertsChoice"

    required property PlacementController placement

    // Returns the words for a place of the slider. Layers without experts have a place there, but do not count among
    // those that keep their experts in RAM.
    function inWords(layers: int, then: var): string {
        if (layers > 0 && layers >= root.placement.layers)
            return qsTr("of all layers");
        const count = layers > 0 && then.known ? then.hostExperts : layers;
        return count === 0 ? qsTr("none") : qsTr("of %n layer(s)", "", count);
    }

    spacing: Theme.gapSmall

    SliderRow {
        objectName: "expertsRow"
        label: qsTr("Experts kept in RAM")
        value: Math.max(0, root.placement.experts.hostLayers)
        to: Math.max(1, root.placement.layers)
        step: 1
        function shown(layers: real): string {
            const forecast = root.placement.forecast;
            const between = layers > 0 && layers < root.placement.layers;
            return root.inWords(layers, between && forecast.now.known ? forecast.previewHostExperts(layers) : forecast.now);
        }
        function foretold(layers: real): string {
            const then = root.placement.forecast.previewHostExperts(layers);
            return then.known ? qsTr("%1 on the device, %2").arg(Format.bytes(then.deviceBytes)).arg(Format.tokensPerSecond(then.tokensPerSecond)) : "";
        }
        onChosen: layers => root.placement.experts.setHostLayers(layers)
    }
    ActionButton {
        objectName: "expertsAuto"
        Layout.alignment: Qt.AlignBottom
        implicitHeight: Theme.px(28)
        leftPadding: Theme.gapSmall
        rightPadding: Theme.gapSmall
        font.pixelSize: Theme.sizeSmall
        text: qsTr("Auto")
        icon.source: root.placement.experts.automatic ? "qrc:/icons/check.svg" : ""
        icon.width: Theme.px(16)
        icon.height: Theme.px(16)
        spacing: Theme.px(4)
        Accessible.name: root.placement.experts.automatic ? qsTr("Experts where they find room: chosen") : qsTr("Experts where they find room")
        onClicked: root.placement.experts.setHostLayers(-1)
    }
}
