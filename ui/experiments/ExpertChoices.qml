// Lets the user choose where the experts of a mixture lie while it is measured, and what room the device has for copies
// of those in RAM.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Layouts
import Spillway.App
import Spillway.Ui.Components
import Spillway.Ui.Theme

ColumnLayout {
    id: root

    required property ExperimentDraft draft

    readonly property var places: draft.expertsInRam
    readonly property var chosenCopies: draft.chosenExpertCopies
    property string refusal: "" // why the typed text was refused

    function add() {
        refusal = draft.addExpertCopies(field.text);
        if (refusal === "")
            field.clear();
    }

    spacing: Theme.gapSmall

    Flow {
        Layout.fillWidth: true
        spacing: Theme.gapTiny

        ChoiceChip {
            objectName: "expertsAsTheyFit"
            text: qsTr("As they fit")
            explanation: qsTr("Experts lie on the device as long as they find room")
            chosen: root.places.indexOf(false) >= 0
            onClicked: root.draft.toggleExpertsInRam(false)
        }
        ChoiceChip {
            objectName: "expertsInRam"
            text: qsTr("All in RAM")
            explanation: qsTr("The device has all but the experts, as with --cpu-moe")
            chosen: root.places.indexOf(true) >= 0
            onClicked: root.draft.toggleExpertsInRam(true)
        }
    }
    Flow {
        Layout.fillWidth: true
        spacing: Theme.gapTiny

        Repeater {
            model: root.draft.expertCopies.length // a number: the chips are kept, and so the keyboard
            delegate: ChoiceChip {
                required property int index
                readonly property string copies: root.draft.expertCopies[index] ?? ""

                objectName: "copiesChip" + index
                text: index === 0 ? qsTr("No copies") : index === 1 ? qsTr("Copies as they pay") : qsTr("Copies: %1").arg(copies)
                explanation: index === 0 ? qsTr("The CPU computes all experts that lie in RAM")
                           : index === 1 ? qsTr("The device keeps copies of those that tokens choose most, as many as save more time than KV would")
                                         : qsTr("So much of the device's memory is for copies of the experts that tokens choose most")
                chosen: root.chosenCopies.indexOf(copies) >= 0
                onClicked: root.draft.toggleExpertCopies(copies)
            }
        }
    }
    RowLayout {
        Layout.fillWidth: true
        spacing: Theme.gapSmall

        TextLine {
            id: field

            objectName: "copiesField"
            Layout.fillWidth: true
            Layout.maximumWidth: Theme.px(220)
            placeholderText: qsTr("sizes: 512MiB, 2GiB")
            maximumLength: 200
            wrong: root.refusal !== ""
            Accessible.name: qsTr("Other sizes of the memory for copies of experts, separated by commas")
            onTextEdited: root.refusal = ""
            onAccepted: root.add()
        }
        ActionButton {
            objectName: "addCopies"
            text: qsTr("Add")
            onClicked: root.add()
            Accessible.name: qsTr("Add these sizes")
        }
    }
    Text {
        objectName: "copiesRefusal"
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
