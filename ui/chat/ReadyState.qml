// Says that a model is open and nothing has been said yet.
import QtQuick
import QtQuick.Layouts
import Spillway.App
import Spillway.Ui.Theme

ColumnLayout {
    id: root

    required property modelFacts facts
    required property bool continuesText
    required property list<string> servers // that may answer; none: this computer does

    spacing: Theme.gapSmall

    Text {
        objectName: "readyTitle"
        Layout.fillWidth: true
        horizontalAlignment: Text.AlignHCenter
        text: qsTr("%1 is ready").arg(root.facts.name)
        textFormat: Text.PlainText
        wrapMode: Text.Wrap
        font.pixelSize: Theme.sizeHero
        font.weight: Font.DemiBold
        color: Theme.text
    }
    Text {
        objectName: "readyNote"
        Layout.fillWidth: true
        horizontalAlignment: Text.AlignHCenter
        text: root.continuesText
              ? qsTr("This model has no chat template: it continues your text. Write the beginning of something.")
              : root.servers.length > 1 ? qsTr("It runs on %1: what you write goes to one of them.").arg(Format.listed(root.servers))
              : root.facts.server !== "" ? qsTr("It runs on %1: what you write goes there.").arg(root.facts.server)
              : qsTr("It remembers %1 tokens of conversation.").arg(Format.count(root.facts.contextInUse))
        textFormat: Text.PlainText
        wrapMode: Text.Wrap
        font.pixelSize: Theme.sizeBody
        lineHeight: Theme.lineHeight
        color: Theme.textMuted
    }
}
