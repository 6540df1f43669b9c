// Room for another program: the size to shrink to, and the button that does it and takes it back.
import QtQuick
import QtQuick.Layouts
import Spillway.App
import Spillway.Ui.Components
import Spillway.Ui.Theme

ColumnLayout {
    id: root

    required property PlacementController placement

    function foretold(bytes: real): string {
        const then = placement.previewBudget(bytes);
        if (!then.known)
            return "";
        return then.spillTokens === undefined ? qsTr("%1 layers, no block ever leaves").arg(then.layers)
                                              : qsTr("%1 layers, the first block leaves at %2 tokens").arg(then.layers).arg(Format.count(then.spillTokens));
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
        Keys.onReturnPressed: clicked()
    }
}
