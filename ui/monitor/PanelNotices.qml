// What the panel's reader has to know first: that what is shown is not of now, or that there is nothing to show.
import QtQuick
import QtQuick.Layouts
import Spillway.App
import Spillway.Ui.Components
import Spillway.Ui.Theme

ColumnLayout {
    id: root

    required property PressureMonitor monitor
    property string refusal: "" // why a recording was not written

    spacing: Theme.gapSmall
    visible: refusal !== "" || monitor.trouble !== "" || monitor.replaying || monitor.earlier || !monitor.hasModel

    signal refusalDismissed

    function dated(sentence: string): string {
        return sentence.arg(monitor.recordingModel).arg(monitor.recordingMade.toLocaleString(Format.locale, Locale.ShortFormat));
    }

    Notice {
        objectName: "recordingRefused"
        Layout.fillWidth: true
        visible: root.refusal !== ""
        sentence: root.refusal
        onDismissRequested: root.refusalDismissed()
    }
    Notice {
        objectName: "recordingTrouble"
        Layout.fillWidth: true
        visible: root.monitor.trouble !== ""
        sentence: root.monitor.trouble
        onDismissRequested: root.monitor.dismissTrouble()
    }
    Notice {
        objectName: "replayNotice"
        Layout.fillWidth: true
        visible: root.monitor.replaying
        kind: Notice.Warning
        dismissible: false
        sentence: root.dated(qsTr("A recording of %1, made on %2."))
        actionText: qsTr("Back to now")
        onActionRequested: root.monitor.leaveRecording()
    }
    RowLayout {
        objectName: "earlierNote"
        Layout.fillWidth: true
        Layout.topMargin: Theme.gapTiny
        Layout.leftMargin: Theme.gapSmall
        Layout.rightMargin: Theme.gapSmall
        visible: root.monitor.earlier
        spacing: Theme.gapSmall

        Rectangle {
            Layout.fillHeight: true
            implicitWidth: Theme.px(3)
            radius: 1
            color: Theme.borderStrong
        }
        Text {
            Layout.fillWidth: true
            text: root.dated(qsTr("Kept from earlier: %1, on %2. The next answer goes on after it."))
            textFormat: Text.PlainText
            wrapMode: Text.Wrap
            font.pixelSize: Theme.sizeSmall
            color: Theme.textMuted
            Accessible.role: Accessible.Note
            Accessible.name: text
        }
    }
    Text {
        objectName: "panelEmpty"
        Layout.fillWidth: true
        Layout.margins: Theme.gapSmall
        visible: !root.monitor.hasModel && !root.monitor.replaying && !root.monitor.earlier
        text: qsTr("Open a model to see where its memory lies.")
        textFormat: Text.PlainText
        wrapMode: Text.Wrap
        font.pixelSize: Theme.sizeSmall
        color: Theme.textMuted
    }
}
