// Shows how fast bytes flow through each stage from the disk to the next word, and which stage holds the others up.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Layouts
import Spillway.App
import Spillway.Ui.Components
import Spillway.Ui.Theme

ColumnLayout {
    id: root

    required property pipelineReading pipeline
    required property bool hasDevice

    readonly property var stages: [
        { name: qsTr("SSD"), value: rate(pipeline.disk), there: true },
        { name: qsTr("RAM"), value: rate(pipeline.ram), there: true },
        { name: qsTr("Link"), value: rate(pipeline.link), there: hasDevice },
        { name: qsTr("VRAM"), value: rate(pipeline.vram), there: hasDevice },
        { name: qsTr("Words"), value: Format.tokensPerSecond(pipeline.compute), there: true }
    ]
    readonly property string phase: [qsTr("Idle"), qsTr("Loading"), qsTr("Reading the prompt"), qsTr("Writing"), qsTr("Moving blocks")][pipeline.phase]
    readonly property string slowest: pipeline.bottleneck < 0 ? "" : stages[pipeline.bottleneck].name

    function rate(bytes: var): string {
        return bytes === undefined ? Format.unknown : qsTr("%1/s").arg(Format.bytes(bytes));
    }

    spacing: Theme.gapTiny

    Accessible.role: Accessible.Grouping
    Accessible.name: qsTr("Flow: %1").arg(root.phase)

    RowLayout {
        Layout.fillWidth: true
        spacing: 0

        LayoutRepeater {
            model: root.stages.length // a number: the tiles are kept when their values change
            delegate: RowLayout {
                id: stage

                required property int index
                readonly property var modelData: root.stages[index]
                readonly property bool slow: root.pipeline.bottleneck === index

                Layout.fillWidth: true
                Layout.preferredWidth: 1
                spacing: 0

                Accessible.role: Accessible.StaticText
                Accessible.name: stage.modelData.name + ": " + stage.modelData.value

                Text {
                    visible: stage.index > 0
                    text: "›"
                    textFormat: Text.PlainText
                    font.pixelSize: Theme.sizeBody
                    color: Theme.textMuted
                    Accessible.ignored: true
                }
                Rectangle {
                    objectName: "stage" + stage.index
                    Layout.fillWidth: true
                    implicitHeight: words.implicitHeight + Theme.gapSmall
                    radius: Theme.px(6)
                    opacity: stage.modelData.there ? 1 : 0.4
                    color: stage.slow ? Theme.warningGround : Theme.raised
                    border.width: stage.slow ? 2 : 1
                    border.color: stage.slow ? Theme.watermark : Theme.border

                    Column {
                        id: words

                        anchors.centerIn: parent
                        width: parent.width - 4

                        Text {
                            width: parent.width
                            horizontalAlignment: Text.AlignHCenter
                            text: stage.modelData.name
                            textFormat: Text.PlainText
                            elide: Text.ElideRight
                            font.pixelSize: Theme.px(12)
                            color: Theme.textMuted
                            Accessible.ignored: true
                        }
                        Text {
                            width: parent.width
                            horizontalAlignment: Text.AlignHCenter
                            text: stage.modelData.value
                            textFormat: Text.PlainText
                            fontSizeMode: Text.HorizontalFit
                            minimumPixelSize: Theme.px(8)
                            font.pixelSize: Theme.px(12)
                            font.weight: Font.Medium
                            color: Theme.text
                            Accessible.ignored: true
                        }
                    }
                }
            }
        }
    }
    Text {
        objectName: "flowWords"
        Layout.fillWidth: true
        text: root.slowest === "" ? root.phase : qsTr("%1. Most of the time goes to: %2").arg(root.phase).arg(root.slowest)
        textFormat: Text.PlainText
        elide: Text.ElideRight
        font.pixelSize: Theme.sizeSmall
        color: Theme.textMuted
    }
}
