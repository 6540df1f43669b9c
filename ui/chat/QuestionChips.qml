// Shows questions to begin with, which the open model can answer: a click asks one.
pragma ComponentBehavior: Bound

import QtQuick
import Spillway.Ui.Components
import Spillway.Ui.Theme

CentredFlow {
    id: root

    // The questions are in the language of the window; the guide model answers in it, too.
    readonly property var questions: [
        qsTr("What is Spillway?"),
        qsTr("What happens when the VRAM is full?"),
        qsTr("Why does it become slower as the conversation grows?"),
        qsTr("How do I open a model?")
    ]

    signal asked(string question)

    spacing: Theme.gapSmall

    Accessible.role: Accessible.Grouping
    Accessible.name: qsTr("Questions to begin with")

    Repeater {
        model: root.questions

        WrappingButton {
            required property int index
            required property string modelData

            objectName: "question" + index
            room: root.width
            text: modelData
            onClicked: root.asked(modelData)
        }
    }
}
