// Shows what another layer split would bring, while it is being chosen.
import QtQuick
import QtQuick.Controls
import QtQuick.Layouts
import Spillway.App
import Spillway.Ui.Theme

Popup {
    id: root

    required property PlacementController placement
    required property int layers

    readonly property placementPreview now: placement.forecast.preview(layers)

    width: Math.min(Theme.px(330), (Overlay.overlay?.width ?? 0) - 2 * Theme.gap)
    margins: Theme.gapSmall // keeps it within the window
    padding: Theme.gap
    modal: false
    focus: false
    closePolicy: Popup.NoAutoClose

    background: Rectangle {
        color: Theme.raised
        radius: Theme.radius
        border.width: 1
        border.color: Theme.border
    }
    contentItem: ColumnLayout {
        spacing: Theme.gapTiny

        Text {
            objectName: "previewTitle"
            Layout.fillWidth: true
            text: root.now.known && root.now.layers < root.layers
                ? qsTr("%n layer(s): only %1 of them fit", "", root.layers).arg(root.now.layers)
                : root.layers === 0 ? qsTr("Nothing on the device") : qsTr("%n layer(s) on the device", "", root.layers)
            textFormat: Text.PlainText
            wrapMode: Text.Wrap
            font.pixelSize: Theme.sizeBody
            font.weight: Font.DemiBold
            color: Theme.text
        }
        PreviewLine {
            name: qsTr("Memory of the device")
            value: root.now.known ? qsTr("%1 of %2").arg(Format.bytes(root.now.deviceBytes)).arg(Format.bytes(root.now.budgetBytes)) : Format.unknown
        }
        PreviewLine {
            objectName: "previewStates"
            visible: root.now.deviceStateBytes > 0
            name: qsTr("States of fixed size in it")
            value: Format.bytes(root.now.deviceStateBytes)
        }
        PreviewLine {
            objectName: "previewExperts"
            visible: root.now.known && root.now.hostExperts >= 0
            name: qsTr("Experts kept in RAM")
            value: root.now.hostExperts <= 0 ? qsTr("none") : qsTr("of %n layer(s)", "", root.now.hostExperts)
        }
        PreviewLine {
            name: qsTr("First block leaves at")
            value: !root.now.known ? Format.unknown : root.now.spillTokens === undefined ? qsTr("never") : qsTr("%1 tokens").arg(Format.count(root.now.spillTokens))
        }
        PreviewLine {
            name: qsTr("Largest context")
            value: root.now.known ? qsTr("%1 tokens").arg(Format.count(root.now.largestContext)) : Format.unknown
        }
        PreviewLine {
            name: qsTr("Predicted speed")
            value: Format.tokensPerSecond(root.now.tokensPerSecond)
        }
        PreviewLine {
            name: qsTr("Predicted speed when full")
            value: Format.tokensPerSecond(root.now.tokensPerSecondFull)
        }
        Text {
            objectName: "previewCorrection"
            Layout.fillWidth: true
            visible: root.now.correction !== undefined
            text: visible ? qsTr("Corrected by this model's answers: %1 % of what the machine's rates promise").arg(Format.count(Math.round(100 * root.now.correction))).replace(" %", "\u00a0%") : ""
            textFormat: Text.PlainText
            wrapMode: Text.Wrap
            font.pixelSize: Theme.px(12)
            color: Theme.textMuted
        }
    }
}
