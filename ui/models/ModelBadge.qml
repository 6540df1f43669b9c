// Shows in the top bar the model that is open or being loaded: its name and its kind. A press opens the menu of models.
import QtQuick
import QtQuick.Controls
import QtQuick.Layouts
import Spillway.App
import Spillway.Ui.Components
import Spillway.Ui.Theme

AbstractButton {
    id: root

    required property ModelController models
    property string shortcutText: ""
    property bool menuShown: false

    readonly property bool loading: models.phase === ModelController.Loading || models.phase === ModelController.Cancelling
    readonly property modelFacts facts: loading ? models.offer : models.current
    readonly property string device: facts.device === "emulated" ? qsTr("emulated") : facts.device
    readonly property string progress: models.bytesTotal > 0 ? qsTr("Loading… %1").arg(Format.percent(models.bytesDone, models.bytesTotal))
                                                             : qsTr("Loading…")

    implicitHeight: Theme.px(44)
    implicitWidth: implicitContentWidth + leftPadding + rightPadding
    leftPadding: Theme.gapTiny
    rightPadding: Theme.gapSmall
    focusPolicy: Qt.StrongFocus
    hoverEnabled: true
    Keys.onReturnPressed: event => {
        if (!event.isAutoRepeat)
            clicked();
    }
    Keys.onEnterPressed: event => {
        if (!event.isAutoRepeat)
            clicked();
    }
    Keys.onDownPressed: clicked()

    Accessible.role: Accessible.ButtonMenu
    Accessible.name: root.loading ? Format.filled(qsTr("%1: %2"), [root.facts.name, root.progress])
                   : root.facts.known ? Format.filled(qsTr("Open model: %1, %2"), [root.facts.name, details.text]) : qsTr("No model is open")
    Accessible.description: qsTr("Choose another model")

    background: Rectangle {
        radius: Theme.radiusSmall
        color: root.hovered || root.menuShown ? Theme.hover : "transparent"

        FocusRing {
            visible: root.visualFocus
        }
    }
    contentItem: RowLayout { // qmllint disable deferred-property-id
        spacing: Theme.gapSmall

        Image {
            Layout.rightMargin: Theme.gapTiny
            source: "qrc:/icons/spillway.svg"
            sourceSize.width: 30
            sourceSize.height: 30
            Accessible.ignored: true
        }
        ColumnLayout {
            Layout.fillWidth: true
            opacity: root.width < Theme.px(70) ? 0 : 1 // without room they would be drawn over the rest
            spacing: 1

            Text {
                objectName: "modelName"
                Layout.fillWidth: true
                text: root.facts.known ? root.facts.name : qsTr("Spillway")
                textFormat: Text.PlainText
                elide: Text.ElideRight
                font.pixelSize: Theme.sizeBody
                font.weight: Font.DemiBold
                color: Theme.text
                Accessible.ignored: true
            }
            Text {
                id: details

                objectName: "modelDetails"
                Layout.fillWidth: true
                visible: root.facts.known
                text: root.loading ? root.progress
                    : root.facts.server !== "" ? root.facts.contextInUse > 0
                      ? Format.also(qsTr("on %1").arg(root.facts.server), qsTr("%1 tokens").arg(Format.count(root.facts.contextInUse)))
                      : qsTr("on %1").arg(root.facts.server)
                    : Format.filled(qsTr("%1  ·  %2  ·  %3  ·  %4"), [root.facts.architecture, Format.compact(root.facts.parameters), root.facts.quantization, Format.bytes(root.facts.fileBytes)])
                      + (root.device ? "  ·  " + root.device : "")
                textFormat: Text.PlainText
                elide: Text.ElideRight
                font.pixelSize: Theme.sizeSmall
                color: Theme.textMuted
                Accessible.ignored: true
            }
        }
        Picture {
            source: "qrc:/icons/chevron.svg"
            size: Theme.px(16)
            ink: Theme.textMuted
        }
    }
    Tip {
        visible: root.hovered && !root.menuShown
        text: root.shortcutText === "" ? qsTr("Choose another model") : qsTr("Choose another model (%1)").arg(root.shortcutText)
    }
}
