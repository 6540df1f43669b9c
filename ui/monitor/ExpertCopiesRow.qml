// Lets the user choose how much of the device's memory is for copies of experts that lie in RAM.
import QtQuick
import QtQuick.Layouts
import Spillway.App
import Spillway.Ui.Components
import Spillway.Ui.Theme

ColumnLayout {
    id: root

    required property PlacementController placement

    readonly property ExpertPlacement experts: placement.experts

    Layout.fillWidth: true
    spacing: 0

    RowLayout {
        spacing: Theme.gapSmall

        SliderRow {
            objectName: "copiesRow"
            label: qsTr("Room for copies of experts")
            value: root.experts.roomForCopies
            to: Math.max(1, root.experts.mostRoom)
            function shown(bytes: real): string {
                return bytes < 1 ? qsTr("none") : Format.bytes(bytes);
            }
            function foretold(bytes: real): string {
                const then = root.placement.forecast.previewRoomForCopies(bytes);
                return then.known ? qsTr("%1 on the device, %2").arg(Format.bytes(then.deviceBytes)).arg(Format.tokensPerSecond(then.tokensPerSecond)) : "";
            }
            onChosen: bytes => root.experts.setRoomForCopies(bytes)
        }
        ActionButton {
            objectName: "copiesAuto"
            Layout.alignment: Qt.AlignBottom
            implicitHeight: Theme.px(28)
            leftPadding: Theme.gapSmall
            rightPadding: Theme.gapSmall
            font.pixelSize: Theme.sizeSmall
            text: qsTr("Auto")
            icon.source: root.experts.copiesAutomatic ? "qrc:/icons/check.svg" : ""
            icon.width: Theme.px(16)
            icon.height: Theme.px(16)
            spacing: Theme.px(4)
            Accessible.name: root.experts.copiesAutomatic ? qsTr("As many copies as save most time: chosen") : qsTr("As many copies as save most time")
            onClicked: root.experts.setRoomForCopies(-1)
        }
    }
    Text {
        objectName: "copiesNow"
        Layout.fillWidth: true
        visible: root.experts.copies > 0
        text: qsTr("%n expert(s) of each layer, %1", "", root.experts.copies).arg(Format.bytes(root.experts.copyBytes))
        textFormat: Text.PlainText
        elide: Text.ElideRight
        font.pixelSize: Theme.px(12)
        color: Theme.textMuted
    }
    Text {
        objectName: "copiesReason"

        // Says why just so many experts are on the device.
        function sentence(now: var): string {
            if (!now.known || !(now.expertBytes > 0))
                return "";
            const bytes = Format.bytes(now.expertBytes);
            if (now.expertsSaveMs === undefined)
                return qsTr("%1 of experts have what room KV leaves: this machine's speed is not measured").arg(bytes);
            const saved = Format.milliseconds(now.expertsSaveMs);
            if (now.kvWouldSaveMs === undefined)
                return qsTr("%1 of experts save %2 a token; all KV lies beside them").arg(bytes).arg(saved);
            return qsTr("%1 of experts save %2 a token; KV in their place would save %3").arg(bytes).arg(saved).arg(Format.milliseconds(now.kvWouldSaveMs));
        }

        Layout.fillWidth: true
        visible: text !== ""
        text: root.experts.copiesAutomatic ? sentence(root.placement.forecast.now) : ""
        textFormat: Text.PlainText
        wrapMode: Text.Wrap
        font.pixelSize: Theme.px(12)
        color: Theme.textMuted
    }
}
