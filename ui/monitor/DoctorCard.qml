// What holds the answers back, in a sentence, and the one change that would help most.
import QtQuick
import QtQuick.Layouts
import Spillway.App
import Spillway.Ui.Components
import Spillway.Ui.Theme

Rectangle {
    id: root

    required property DoctorController doctor

    readonly property string gain: doctor.predicted === undefined ? ""
        : doctor.tokensPerSecond === undefined ? qsTr("Predicted: %1").arg(Format.tokensPerSecond(doctor.predicted))
        : qsTr("Predicted: %1 instead of %2").arg(Format.tokensPerSecond(doctor.predicted)).arg(Format.tokensPerSecond(doctor.tokensPerSecond))

    implicitHeight: column.implicitHeight + 2 * Theme.gapSmall
    radius: Theme.radiusSmall
    color: Theme.raised
    border.width: 1
    border.color: Theme.border

    Accessible.role: Accessible.Note
    Accessible.name: root.doctor.sentence

    ColumnLayout {
        id: column

        x: Theme.gapSmall
        y: Theme.gapSmall
        width: parent.width - 2 * Theme.gapSmall
        spacing: Theme.gapTiny

        Text {
            objectName: "doctorSentence"
            Layout.fillWidth: true
            text: root.doctor.sentence
            textFormat: Text.PlainText
            wrapMode: Text.Wrap
            font.pixelSize: Theme.sizeSmall
            font.weight: Font.Medium
            color: Theme.text
            Accessible.ignored: true
        }
        Text {
            objectName: "doctorAdvice"
            Layout.fillWidth: true
            visible: root.doctor.suggestion !== "" && !root.doctor.canApply
            text: root.doctor.suggestion
            textFormat: Text.PlainText
            wrapMode: Text.Wrap
            font.pixelSize: Theme.sizeSmall
            color: Theme.textMuted
        }
        ActionButton {
            objectName: "doctorApply"
            visible: root.doctor.canApply
            implicitHeight: Theme.px(32)
            font.pixelSize: Theme.sizeSmall
            text: root.doctor.suggestion
            onClicked: root.doctor.apply()
            Keys.onReturnPressed: clicked()
        }
        Text {
            objectName: "doctorGain"
            Layout.fillWidth: true
            visible: text !== "" && root.doctor.suggestion !== ""
            text: root.gain
            textFormat: Text.PlainText
            wrapMode: Text.Wrap
            font.pixelSize: Theme.px(12)
            color: Theme.textMuted
        }
    }
}
