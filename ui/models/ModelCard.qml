// Shows a model file before and while it is loaded: what it is, how far the loading is, and what can be done.
import QtQuick
import QtQuick.Layouts
import Spillway.App
import Spillway.Ui.Components
import Spillway.Ui.Theme

Rectangle {
    id: root

    required property ModelController models
    required property bool answering // an answer is being made, which loading would stop

    readonly property bool inspecting: models.phase === ModelController.Inspecting
    readonly property bool offered: models.phase === ModelController.Offered
    readonly property bool loading: models.phase === ModelController.Loading || models.phase === ModelController.Cancelling
    readonly property modelFacts facts: models.offer

    function takeFocus() {
        (offered && facts.runnable ? loadButton : cancelButton).forceActiveFocus(Qt.OtherFocusReason);
    }

    implicitHeight: column.implicitHeight + 2 * Theme.gapLarge
    implicitWidth: Theme.px(600)
    radius: Theme.radiusLarge
    color: Theme.raised
    border.width: 1
    border.color: Theme.border

    Accessible.role: Accessible.Grouping
    Accessible.name: root.inspecting ? qsTr("Reading the file") : root.facts.name

    ColumnLayout {
        id: column

        anchors.fill: parent
        anchors.margins: Theme.gapLarge
        spacing: Theme.gap

        ColumnLayout {
            spacing: Theme.gapTiny

            Text {
                objectName: "cardTitle"
                Layout.fillWidth: true
                text: root.inspecting ? qsTr("Reading the file…") : root.facts.name
                textFormat: Text.PlainText
                elide: Text.ElideMiddle
                font.pixelSize: Theme.sizeTitle
                font.weight: Font.DemiBold
                color: Theme.text
            }
            Text {
                Layout.fillWidth: true
                visible: !root.inspecting && text !== root.facts.name
                text: root.facts.splitFiles > 1
                      ? Format.filled(qsTr("%1, %2 files"), [root.facts.fileName, root.facts.splitFiles])
                      : root.facts.fileName
                textFormat: Text.PlainText
                elide: Text.ElideMiddle
                font.pixelSize: Theme.sizeSmall
                color: Theme.textMuted
            }
        }

        GridLayout {
            visible: !root.inspecting
            Layout.fillWidth: true
            columns: root.width < Theme.px(420) ? 2 : 3 // large text in a small window
            columnSpacing: Theme.gapLarge
            rowSpacing: Theme.gap

            Fact {
                Layout.fillWidth: true
                Layout.preferredWidth: 1
                label: qsTr("Architecture")
                value: root.facts.architecture
            }
            Fact {
                Layout.fillWidth: true
                Layout.preferredWidth: 1
                label: qsTr("Parameters")
                value: Format.compact(root.facts.parameters)
            }
            Fact {
                Layout.fillWidth: true
                Layout.preferredWidth: 1
                label: qsTr("Quantisation")
                value: root.facts.quantization
            }
            Fact {
                Layout.fillWidth: true
                Layout.preferredWidth: 1
                objectName: "cardContext"
                label: qsTr("Context")
                value: root.facts.contextTokens > 0 ? qsTr("%1 tokens").arg(Format.count(root.facts.contextTokens)) : Format.unknown
            }
            Fact {
                Layout.fillWidth: true
                Layout.preferredWidth: 1
                label: qsTr("Weights")
                value: Format.bytes(root.facts.fileBytes)
            }
            Fact {
                Layout.fillWidth: true
                Layout.preferredWidth: 1
                objectName: "cardConversation"
                label: root.facts.conversationBytes > 0 ? qsTr("%1 tokens take").arg(Format.context(root.facts.contextToLoad))
                                                        : qsTr("A full conversation")
                value: root.facts.conversationBytes > 0 ? Format.bytes(root.facts.conversationBytes) : Format.unknown
            }
        }

        Text {
            objectName: "cardObstacle"
            Layout.fillWidth: true
            visible: !root.inspecting && !root.facts.runnable
            text: root.facts.obstacle
            textFormat: Text.PlainText
            wrapMode: Text.Wrap
            font.pixelSize: Theme.sizeBody
            color: Theme.danger
        }
        Text {
            Layout.fillWidth: true
            visible: root.offered && root.facts.runnable && root.answering
            text: qsTr("The answer being written stops when this model is loaded. What has been written of it stays.")
            textFormat: Text.PlainText
            wrapMode: Text.Wrap
            font.pixelSize: Theme.sizeSmall
            color: Theme.textMuted
        }

        RowLayout {
            Layout.fillWidth: true
            spacing: Theme.gapSmall

            ColumnLayout {
                Layout.fillWidth: true
                Layout.rightMargin: Theme.gapSmall
                spacing: Theme.gapTiny
                visible: !root.offered

                ProgressLine {
                    objectName: "loadProgress"
                    Layout.fillWidth: true
                    indeterminate: root.models.bytesTotal <= 0 || root.inspecting
                    value: root.models.bytesTotal > 0 ? root.models.bytesDone / root.models.bytesTotal : 0
                    Accessible.name: qsTr("Loading")
                }
                Text {
                    objectName: "loadText"
                    visible: root.loading
                    text: root.models.phase === ModelController.Cancelling
                          ? qsTr("Cancelling…")
                          : root.models.bytesTotal <= 0 ? qsTr("Reading the file…")
                          : qsTr("%1 of %2").arg(Format.bytes(root.models.bytesDone)).arg(Format.bytes(root.models.bytesTotal))
                    textFormat: Text.PlainText
                    font.pixelSize: Theme.sizeSmall
                    color: Theme.textMuted
                }
            }
            Item {
                Layout.fillWidth: true
                visible: root.offered
            }
            ActionButton {
                id: cancelButton

                objectName: "cancelLoad"
                text: root.offered && !root.facts.runnable ? qsTr("Close") : qsTr("Cancel")
                enabled: root.models.phase !== ModelController.Cancelling
                onClicked: root.models.cancel()
            }
            WrappingButton {
                id: loadButton

                objectName: "load"
                room: root.width - 2 * Theme.gapLarge - cancelButton.implicitWidth - Theme.gapSmall
                primary: true
                visible: !root.offered || root.facts.runnable
                enabled: root.offered // keeps its place, so that a second press does not hit Cancel
                text: root.answering ? qsTr("Stop and load") : qsTr("Load")
                onClicked: root.models.load()
            }
        }
    }
}
