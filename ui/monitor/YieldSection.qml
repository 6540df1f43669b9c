// Gives room to another program: the size to shrink to, and the button that does it and takes it back.
import QtQuick
import QtQuick.Layouts
import Spillway.App
import Spillway.Ui.Components
import Spillway.Ui.Theme

ColumnLayout {
    id: root

    required property PlacementController placement

    function foretold(bytes: real): string {
        const then = placement.forecast.previewBudget(Math.max(1, bytes)); // 0 would mean no limit
        if (!then.known)
            return "";
        if (then.layers === 0)
            return qsTr("Nothing is on the device");
        return then.spillTokens === undefined ? qsTr("%n layer(s), no block ever leaves", "", then.layers)
                                              : qsTr("%n layer(s), the first block leaves at %1 tokens", "", then.layers).arg(Format.count(then.spillTokens));
    }

    spacing: Theme.gapTiny

    SliderRow {
        objectName: "yieldRow"
        label: qsTr("When another program needs the device")
        value: root.placement.yieldBytes
        to: Math.max(1, root.placement.totalBytes)
        function shown(bytes: real): string { return Format.bytes(bytes); }
        function foretold(bytes: real): string { return root.foretold(bytes); }
        onChosen: bytes => root.placement.setYieldBytes(bytes)
    }
    ActionButton {
        objectName: "yieldButton"
        Layout.fillWidth: true
        implicitHeight: Theme.px(32)
        font.pixelSize: Theme.sizeSmall
        text: root.placement.yielding ? qsTr("Grow back") : qsTr("Shrink to %1").arg(Format.bytes(root.placement.yieldBytes))
        onClicked: root.placement.toggleYield()
    }
}
