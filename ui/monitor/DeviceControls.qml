// Lets the user choose which parts of the model lie on the device, and what happens when it is full.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Layouts
import Spillway.App
import Spillway.Ui.Components
import Spillway.Ui.Theme

ColumnLayout {
    id: root

    required property PlacementController placement

    readonly property var policies: [qsTr("Stay on the device; stop when it is full"), qsTr("Stream blocks to the device"), qsTr("Let the CPU read them where they are"),
        qsTr("Automatic: whatever is fastest"), qsTr("Write on the CPU alone")]

    spacing: Theme.gapSmall

    LayerSplit {
        objectName: "panelSplit"
        Layout.fillWidth: true
        placement: root.placement
    }
    ExpertsRow {
        Layout.fillWidth: true
        visible: root.placement.experts.hostLayers >= 0
        placement: root.placement
    }
    ExpertCopiesRow {
        visible: root.placement.experts.takesCopies
        placement: root.placement
    }
    Text {
        text: qsTr("KV that does not fit")
        textFormat: Text.PlainText
        font.pixelSize: Theme.sizeSmall
        color: Theme.textMuted
    }
    ChoiceBox {
        objectName: "policyBox"
        Layout.fillWidth: true
        name: qsTr("What becomes of KV that does not fit")
        implicitHeight: Theme.px(32)
        font.pixelSize: Theme.sizeSmall
        model: root.policies
        chosen: root.placement.policy
        onActivated: index => root.placement.setPolicy(index)
    }
    SliderRow {
        objectName: "budgetRow"
        label: qsTr("Memory budget")
        value: root.placement.budgetBytes
        asking: root.placement.asking
        to: Math.max(1, root.placement.totalBytes)
        function shown(bytes: real): string { return Format.bytes(bytes); }
        function foretold(bytes: real): string { return yielding.foretold(bytes); }
        onChosen: bytes => root.placement.setBudget(Math.max(1, bytes)) // 0 would mean no limit
    }
    SliderRow {
        objectName: "watermarkRow"
        label: qsTr("Start moving out at")
        value: Math.round(100 * root.placement.watermark)
        from: 50
        to: 100
        step: 1
        function shown(percent: real): string { return Format.unbroken(qsTr("%1 % full").arg(Format.count(percent))); }
        onChosen: percent => root.placement.setWatermark(percent / 100)
    }
    SliderRow {
        objectName: "offloadRow"
        label: qsTr("KV kept in RAM at least")
        value: root.placement.offloadPercent
        to: 100
        step: 1
        function shown(percent: real): string { return Format.unbroken(qsTr("%1 %").arg(Format.count(percent))); }
        onChosen: percent => root.placement.setOffloadPercent(percent)
    }
    SliderRow {
        objectName: "othersRow"
        visible: root.placement.emulated
        label: qsTr("Other programs (emulated)")
        value: root.placement.otherProgramsBytes
        asking: root.placement.asking
        to: Math.max(1, root.placement.totalBytes)
        function shown(bytes: real): string { return Format.bytes(bytes); }
        onChosen: bytes => root.placement.setOtherPrograms(bytes)
    }
    YieldSection {
        id: yielding

        Layout.fillWidth: true
        placement: root.placement
    }
}
