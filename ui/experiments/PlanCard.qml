// Shows the plan of an experiment: what is to be measured.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Layouts
import Spillway.App
import Spillway.Ui.Components
import Spillway.Ui.Theme

Rectangle {
    id: root

    required property ExperimentsController experiments

    readonly property ExperimentDraft draft: experiments.draft
    readonly property var strategies: draft.chosenStrategies
    readonly property var explanations: [
        qsTr("All on the CPU, in RAM"),
        qsTr("All KV stays on the device; what does not fit is refused"),
        qsTr("KV beyond the device is copied to it for every token"),
        qsTr("The CPU reads the KV that does not fit on the device"),
        qsTr("A part of each, as is fastest"),
        qsTr("The device reads, the CPU writes")
    ]

    implicitHeight: column.implicitHeight + 2 * Theme.gap
    radius: Theme.radius
    color: Theme.raised
    border.width: 1
    border.color: Theme.border

    ColumnLayout {
        id: column

        anchors.left: parent.left
        anchors.right: parent.right
        anchors.top: parent.top
        anchors.margins: Theme.gap
        spacing: Theme.gap

        LabelledRow {
            label: qsTr("Models")

            ModelChoices {
                objectName: "modelChoices"
                Layout.fillWidth: true
                draft: root.draft
            }
        }
        LabelledRow {
            label: qsTr("Contexts")

            ContextChoices {
                objectName: "contextChoices"
                Layout.fillWidth: true
                draft: root.draft
            }
        }
        LabelledRow {
            label: qsTr("Strategies")

            Flow {
                Layout.fillWidth: true
                spacing: Theme.gapTiny

                Repeater {
                    model: root.draft.strategies
                    delegate: ChoiceChip {
                        required property int index
                        required property string modelData

                        objectName: "strategyChip" + index
                        text: modelData
                        explanation: root.explanations[index]
                        chosen: root.strategies.indexOf(index) >= 0
                        onClicked: root.draft.toggleStrategy(index)
                    }
                }
            }
        }
        LabelledRow {
            visible: root.draft.hasExperts
            label: qsTr("Experts")

            ExpertChoices {
                objectName: "expertChoices"
                Layout.fillWidth: true
                draft: root.draft
            }
        }
        LabelledRow {
            label: qsTr("Device")

            Flow {
                Layout.fillWidth: true
                spacing: Theme.gapSmall

                ChoiceBox {
                    objectName: "deviceBox"
                    implicitWidth: Theme.px(220)
                    name: qsTr("Device")
                    model: root.draft.devices
                    chosen: root.draft.device
                    onActivated: index => root.draft.device = index
                }
                TextLine {
                    objectName: "memoryField"
                    implicitWidth: Theme.px(150)
                    text: root.draft.memory
                    wrong: !root.draft.memoryIsSound
                    placeholderText: qsTr("all of it")
                    maximumLength: 24
                    Accessible.name: qsTr("Memory of the device that may be used: 64MiB, 2GB, or fit:1024")
                    onTextEdited: root.draft.memory = text
                }
            }
            Text {
                objectName: "emulatedNote"
                Layout.fillWidth: true
                visible: root.draft.emulated
                text: qsTr("An emulated device is RAM of a set size, and the CPU computes: it shows what memory pressure costs, not how fast a GPU is. fit:4096 is room for the model and that many tokens, 1,024 at least; the KV of longer contexts spills into RAM.")
                textFormat: Text.PlainText
                wrapMode: Text.Wrap
                font.pixelSize: Theme.sizeSmall
                color: Theme.textMuted
            }
        }
        LabelledRow {
            label: qsTr("Each row")

            MeasureRows {
                Layout.fillWidth: true
                draft: root.draft
            }
        }
        RowLayout {
            Layout.fillWidth: true
            spacing: Theme.gapSmall

            Text {
                objectName: "planSummary"
                Layout.fillWidth: true
                text: root.draft.obstacle !== "" ? root.draft.obstacle
                                                 : qsTr("Rows to measure: %1. Each runs in a process of its own.").arg(Format.count(root.draft.rows))
                textFormat: Text.PlainText
                wrapMode: Text.Wrap
                font.pixelSize: Theme.sizeSmall
                color: root.draft.obstacle !== "" ? Theme.danger : Theme.textMuted
            }
            ActionButton {
                objectName: "startExperiment"
                primary: true
                enabled: root.draft.obstacle === "" && !root.experiments.busy
                text: qsTr("Measure")
                onClicked: root.experiments.start()
            }
        }
    }
}
