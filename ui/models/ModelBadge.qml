// The model that is open, in the top bar: its name and what it is.
import QtQuick
import QtQuick.Layouts
import Spillway.App
import Spillway.Ui.Theme

RowLayout {
    id: root

    required property ModelController models

    readonly property modelFacts facts: models.current

    spacing: Theme.gap

    Accessible.role: Accessible.StaticText
    Accessible.name: root.facts.known ? qsTr("Open model: %1, %2").arg(root.facts.name).arg(details.text) : qsTr("No model is open")

    Image {
        source: "qrc:/icons/spillway.svg"
        sourceSize.width: 30
        sourceSize.height: 30
        Accessible.ignored: true
    }
    ColumnLayout {
        Layout.fillWidth: true
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
            text: qsTr("%1  ·  %2  ·  %3  ·  %4").arg(root.facts.architecture).arg(Format.compact(root.facts.parameters))
                    .arg(root.facts.quantization).arg(Format.bytes(root.facts.fileBytes))
                  + (root.facts.device ? "  ·  " + root.facts.device : "")
            textFormat: Text.PlainText
            elide: Text.ElideRight
            font.pixelSize: Theme.sizeSmall
            color: Theme.textMuted
            Accessible.ignored: true
        }
    }
}
