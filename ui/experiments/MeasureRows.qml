// Lets the user choose how often and how long each row is measured.
import QtQuick
import QtQuick.Layouts
import Spillway.App
import Spillway.Ui.Components
import Spillway.Ui.Theme

Flow {
    id: root

    required property ExperimentDraft draft

    component Amount: ColumnLayout {
        id: amount

        required property string label
        required property int most
        property int step: 1
        property int shown
        signal chosen(int value)

        spacing: 2
        // Set by hand, since typing breaks the box's binding.
        onShownChanged: box.value = shown

        Text {
            text: amount.label
            textFormat: Text.PlainText
            font.pixelSize: Theme.sizeSmall
            color: Theme.textMuted
        }
        NumberBox {
            id: box

            implicitWidth: Theme.px(150)
            name: amount.label
            from: 1
            to: amount.most
            stepSize: amount.step
            value: amount.shown
            onValueModified: amount.chosen(value)
        }
    }

    spacing: Theme.gap

    Amount {
        objectName: "repeatsBox"
        label: qsTr("Repeats")
        most: 100
        shown: root.draft.repeats
        onChosen: value => root.draft.repeats = value
    }
    Amount {
        objectName: "answerBox"
        label: qsTr("Tokens that are written")
        most: 4096
        step: 16
        shown: root.draft.answerTokens
        onChosen: value => root.draft.answerTokens = value
    }
    Amount {
        objectName: "minutesBox"
        label: qsTr("Minutes for a row at most")
        most: 1440
        step: 10
        shown: root.draft.rowMinutes
        onChosen: value => root.draft.rowMinutes = value
    }
}
