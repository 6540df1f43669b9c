// Offers the models that can be measured: files there are, and shapes made of random weights.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Layouts
import Spillway.App
import Spillway.Ui.Components
import Spillway.Ui.Theme

ColumnLayout {
    id: root

    required property ExperimentDraft draft

    spacing: Theme.gapSmall

    Flow {
        objectName: "modelChips"
        Layout.fillWidth: true
        spacing: Theme.gapTiny

        Repeater {
            model: root.draft.models.length // a number: the chips are kept when values change, and so the keyboard
            delegate: ChoiceChip {
                required property int index
                readonly property experimentChoice choice: root.draft.models[index]

                objectName: "modelChip" + index
                width: Math.min(implicitWidth, root.width)
                text: choice.title
                chosen: choice.chosen
                explanation: choice.detail
                onClicked: root.draft.toggleModel(index)
            }
        }
    }
    Text {
        objectName: "noModelFiles"
        Layout.fillWidth: true
        visible: root.draft.models.length === 0
        text: qsTr("No model file is known yet. The models' page looks for them; a shape needs none.")
        textFormat: Text.PlainText
        wrapMode: Text.Wrap
        font.pixelSize: Theme.sizeSmall
        color: Theme.textMuted
    }
    Flow {
        Layout.fillWidth: true
        spacing: Theme.gapSmall

        ChoiceBox {
            id: shape

            objectName: "shapeBox"
            implicitWidth: Theme.px(180)
            name: qsTr("Shape of a model")
            model: root.draft.shapes
        }
        ChoiceBox {
            id: quantisation

            objectName: "quantisationBox"
            implicitWidth: Theme.px(120)
            name: qsTr("Quantisation of the shape")
            model: root.draft.quantisations
        }
        ActionButton {
            objectName: "addShape"
            text: qsTr("Add the shape")
            onClicked: root.draft.addShape(shape.currentIndex, quantisation.currentIndex)
        }
    }
}
