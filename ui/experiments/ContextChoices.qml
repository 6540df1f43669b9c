// Offers the contexts that can be measured: the usual ones, and those that are typed.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Layouts
import Spillway.App
import Spillway.Ui.Components
import Spillway.Ui.Theme

ColumnLayout {
    id: root

    required property ExperimentDraft draft

    readonly property var chosen: draft.chosenContexts
    property string refusal: "" // why the typed text was refused

    function add() {
        refusal = draft.addContexts(field.text);
        if (refusal === "")
            field.clear();
    }

    spacing: Theme.gapSmall

    Flow {
        Layout.fillWidth: true
        spacing: Theme.gapTiny

        Repeater {
            model: root.draft.contexts.length // a number: the chips are kept when values change, and so the keyboard
            delegate: ChoiceChip {
                required property int index
                readonly property int tokens: root.draft.contexts[index] ?? 0

                objectName: "contextChip" + tokens
                text: Format.context(tokens)
                explanation: qsTr("%1 tokens").arg(Format.count(tokens))
                chosen: root.chosen.indexOf(tokens) >= 0
                onClicked: root.draft.toggleContext(tokens)
            }
        }
    }
    RowLayout {
        Layout.fillWidth: true
        spacing: Theme.gapSmall

        TextLine {
            id: field

            objectName: "contextField"
            Layout.fillWidth: true
            Layout.maximumWidth: Theme.px(220)
            placeholderText: qsTr("others: 3000, 12K")
            maximumLength: 200
            wrong: root.refusal !== ""
            Accessible.name: qsTr("Other contexts, in tokens, separated by commas")
            onTextEdited: root.refusal = ""
            onAccepted: root.add()
        }
        ActionButton {
            objectName: "addContexts"
            text: qsTr("Add")
            onClicked: root.add()
            Accessible.name: qsTr("Add these contexts")
        }
    }
    Text {
        objectName: "contextRefusal"
        Layout.fillWidth: true
        visible: root.refusal !== ""
        text: root.refusal
        textFormat: Text.PlainText
        wrapMode: Text.Wrap
        font.pixelSize: Theme.sizeSmall
        color: Theme.danger
        Accessible.role: Accessible.AlertMessage
        Accessible.name: text
    }
}
