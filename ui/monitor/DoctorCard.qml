// Says what holds the answers back, in a sentence with its numbers, offers the change that would help most, and shows
// the speed before and after it.
import QtQuick
import QtQuick.Layouts
import Spillway.App
import Spillway.Ui.Components
import Spillway.Ui.Theme

Rectangle {
    id: root

    required property DoctorController doctor

    readonly property string gain: doctor.predicted === undefined ? qsTr("What it brings is not known.")
        : doctor.tokensPerSecond === undefined ? qsTr("Predicted: %1.").arg(Format.tokensPerSecond(doctor.predicted))
        : doctor.predictedAtMost !== undefined
          ? qsTr("Expected: %1 to %2 instead of %3.").arg(Format.tokensPerSecond(doctor.predicted)).arg(Format.tokensPerSecond(doctor.predictedAtMost)).arg(Format.tokensPerSecond(doctor.tokensPerSecond))
        : !doctor.changesSpeed ? qsTr("Predicted: about as fast as now, %1.").arg(Format.tokensPerSecond(doctor.predicted))
        : qsTr("Predicted: %1 instead of %2.").arg(Format.tokensPerSecond(doctor.predicted)).arg(Format.tokensPerSecond(doctor.tokensPerSecond))

    // When a button disappears, it gives the keyboard to the next control, once everything has changed.
    function passOn(button: var) {
        Qt.callLater(() => { // qmllint disable
            if (button.activeFocus && !button.visible)
                button.nextItemInFocusChain(true).forceActiveFocus(Qt.OtherFocusReason);
        });
    }

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
            objectName: "doctorShares"
            Layout.fillWidth: true
            visible: text !== ""
            text: root.doctor.shares
            textFormat: Text.PlainText
            wrapMode: Text.Wrap
            font.pixelSize: Theme.px(12)
            color: Theme.textMuted
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
        WrappingButton {
            id: apply

            objectName: "doctorApply"
            room: column.width
            visible: root.doctor.canApply
            font.pixelSize: Theme.sizeSmall
            text: root.doctor.suggestion
            onClicked: root.doctor.apply()
            onVisibleChanged: root.passOn(apply)
        }
        Text {
            objectName: "doctorGain"
            Layout.fillWidth: true
            visible: root.doctor.canApply
            text: root.gain + " " + root.doctor.scope
            textFormat: Text.PlainText
            wrapMode: Text.Wrap
            font.pixelSize: Theme.px(12)
            color: Theme.textMuted
        }
        RowLayout {
            Layout.fillWidth: true
            visible: root.doctor.result !== ""
            spacing: Theme.gapSmall

            Text {
                objectName: "doctorResult"
                Layout.fillWidth: true
                text: root.doctor.result
                textFormat: Text.PlainText
                wrapMode: Text.Wrap
                font.pixelSize: Theme.sizeSmall
                color: Theme.text
            }
            ActionButton {
                id: undo

                objectName: "doctorUndo"
                visible: root.doctor.canUndo
                implicitHeight: Theme.px(32)
                font.pixelSize: Theme.sizeSmall
                text: qsTr("Undo")
                onClicked: root.doctor.undo()
                onVisibleChanged: root.passOn(undo)
            }
        }
    }
}
