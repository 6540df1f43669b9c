// Shows what the header of the chosen model says, before the model is fetched.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Layouts
import Spillway.App
import Spillway.Ui.Components
import Spillway.Ui.Models
import Spillway.Ui.Theme

ColumnLayout {
    id: root

    required property ModelPage page

    readonly property modelFacts facts: page.looked
    readonly property var lines: [
        [qsTr("Architecture"), facts.architecture],
        [qsTr("Parameters"), facts.parameters > 0 ? Format.compact(facts.parameters) : ""],
        [qsTr("Context"), facts.contextTokens > 0 ? qsTr("%1 tokens").arg(Format.count(facts.contextTokens)) : ""],
        [qsTr("Experts"), facts.experts > 0 ? qsTr("%1, %2 used").arg(facts.experts).arg(facts.expertsUsed) : ""],
        [qsTr("KV cache per token (f16)"), facts.kvBytesPerToken > 0 ? Format.bytes(facts.kvBytesPerToken) : ""],
        [qsTr("Chat template"), facts.known ? (facts.hasChatTemplate ? qsTr("yes") : qsTr("none")) : ""]
    ]

    spacing: Theme.gapSmall

    ProgressLine {
        objectName: "lookBusy"
        Layout.fillWidth: true
        visible: root.page.looking
        indeterminate: true
        Accessible.name: qsTr("Reading its header")
    }
    Text {
        objectName: "lookError"
        Layout.fillWidth: true
        visible: root.page.lookError !== ""
        text: root.page.lookError
        textFormat: Text.PlainText
        wrapMode: Text.Wrap
        font.pixelSize: Theme.sizeSmall
        color: Theme.danger
    }
    Text {
        objectName: "canRun"
        Layout.fillWidth: true
        visible: root.facts.known
        text: root.facts.runnable ? qsTr("Spillway can run it.") : root.facts.obstacle
        textFormat: Text.PlainText
        wrapMode: Text.Wrap
        font.pixelSize: Theme.sizeSmall
        color: root.facts.runnable ? Theme.text : Theme.danger
    }
    // Lists warnings about the model, for example which part of it is not fetched.
    LayoutRepeater {
        model: root.facts.warnings

        Text {
            required property string modelData

            objectName: "lookWarning"
            Layout.fillWidth: true
            text: modelData
            textFormat: Text.PlainText
            wrapMode: Text.Wrap
            font.pixelSize: Theme.sizeSmall
            color: Theme.warning
        }
    }
    GridLayout {
        Layout.fillWidth: true
        Layout.bottomMargin: Theme.gapTiny
        visible: root.facts.known
        columns: Math.max(1, Math.floor(root.width / Theme.px(190)))
        columnSpacing: Theme.gap
        rowSpacing: Theme.gapSmall

        LayoutRepeater {
            model: root.lines

            Fact {
                required property var modelData

                Layout.fillWidth: true
                Layout.preferredWidth: 1
                visible: modelData[1] !== ""
                label: modelData[0]
                value: modelData[1]
            }
        }
    }
    SpeedHere {
        objectName: "speedHere"
        Layout.fillWidth: true
        visible: root.page.outlook.known
        outlook: root.page.outlook
        trial: root.page.trial
    }
}
