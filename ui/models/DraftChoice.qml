// Lets the user choose which small model guesses what this one will say, where there is one that can.
import QtQuick
import QtQuick.Layouts
import Spillway.App
import Spillway.Ui.Components
import Spillway.Ui.Theme

ColumnLayout {
    id: root

    required property ModelRow row

    readonly property DraftModels drafts: row.drafts
    readonly property string model: row.entry.id
    readonly property int changes: drafts ? drafts.changes : -1
    readonly property var offers: changes >= 0 ? drafts.offers(model) : []
    readonly property int chosen: changes >= 0 ? drafts.chosen(model) : -1

    onChangesChanged: drafts?.look(model)
    onModelChanged: drafts?.look(model)

    visible: offers.length > 0
    spacing: Theme.gapTiny

    GridLayout {
        columns: root.width < Theme.px(320) ? 1 : 3 // large text in a small window
        columnSpacing: Theme.gapSmall
        rowSpacing: Theme.gapTiny

        Text {
            text: qsTr("Draft model")
            textFormat: Text.PlainText
            font.pixelSize: Theme.sizeBody
            font.weight: Font.Medium
            color: Theme.text
        }
        ChoiceBox {
            objectName: "draftChoice"
            Layout.fillWidth: true
            Layout.maximumWidth: Theme.px(360)
            name: qsTr("Draft model")
            model: [qsTr("None"), ...root.offers]
            chosen: root.chosen + 1
            onActivated: index => root.drafts.choose(root.model, index - 1)
        }
        ActionButton {
            objectName: "draftReload"
            visible: root.row.isOpen && root.changes >= 0 && root.drafts.opensOtherwise()
            text: qsTr("Load again")
            onClicked: root.row.openRequested()
        }
    }
    Text {
        objectName: "draftWords"
        Layout.fillWidth: true
        text: (root.chosen < 0
               ? qsTr("A smaller model can guess what this one will say; this one checks it.")
               : qsTr("It guesses what this model will say, and takes %1 of memory.").arg(Format.bytes(root.row.fit.draftBytes)))
              + " " + qsTr("The answers stay the same to the letter; they come faster where many guesses are right, and where few are, none are made.")
        textFormat: Text.PlainText
        wrapMode: Text.Wrap
        font.pixelSize: Theme.sizeSmall
        lineHeight: Theme.lineHeight
        color: Theme.textMuted
    }
}
