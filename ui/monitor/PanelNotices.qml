// Shows notes above the panel: that its numbers are from earlier, or why there are none.
import QtQuick
import QtQuick.Layouts
import Spillway.App
import Spillway.Ui.Components
import Spillway.Ui.Theme

ColumnLayout {
    id: root

    required property PressureMonitor monitor
    required property ChatController chat
    property bool ofServer: false // the open model is of a server, which divides its work by itself
    property string refusal: "" // why a recording was not written

    readonly property bool elsewhere: chat.turn.answeredElsewhere !== "" && !monitor.replaying

    spacing: Theme.gapSmall
    visible: elsewhere || refusal !== "" || monitor.trouble !== "" || monitor.replaying || monitor.earlier || monitor.severalModels || !monitor.hasModel

    signal refusalDismissed
    signal conversationRequested(string conversation)

    function who(): string {
        const turn = root.chat.turn;
        if (turn.countElsewhere > 1)
            return qsTr("%1 other conversations are being answered.").arg(Format.count(turn.countElsewhere));
        return turn.titleElsewhere === "" ? qsTr("Another conversation is being answered.") : qsTr("“%1” is being answered.").arg(turn.titleElsewhere);
    }
    // Returns the note about other answers that are made at the same time, with their speed.
    function beside(others: string): string {
        const speed = root.chat.turn.tokensPerSecondElsewhere;
        if (speed === undefined)
            return (root.ofServer ? qsTr("%1 The charts are of this conversation alone.")
                                  : qsTr("%1 Steps are shared with that; the charts are of this conversation alone.")).arg(others);
        return Format.filled(root.ofServer ? qsTr("%1 That makes %2; the charts are of this conversation alone.")
                                           : qsTr("%1 Steps are shared with that, which makes %2; the charts are of this conversation alone."),
                             [others, Format.tokensPerSecond(speed)]);
    }
    function dated(sentence: string): string {
        return Format.filled(sentence, [monitor.recordingModel, Format.moment(monitor.recordingMade.getTime())]);
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
    PanelNote {
        objectName: "elsewhereNote"
        Layout.fillWidth: true
        Layout.topMargin: Theme.gapTiny
        Layout.leftMargin: Theme.gapSmall
        Layout.rightMargin: Theme.gapSmall
        visible: root.elsewhere
        sentence: root.chat.turn.answered ? root.beside(root.who())
                                          : qsTr("%1 Memory, flow and KV map show what happens now; speed and what moved belong to this conversation.").arg(root.who())
        actionText: qsTr("Go there")
        onActionRequested: root.conversationRequested(root.chat.turn.answeredElsewhere)
    }
    PanelNote {
        objectName: "modelsNote"
        Layout.fillWidth: true
        Layout.topMargin: Theme.gapTiny
        Layout.leftMargin: Theme.gapSmall
        Layout.rightMargin: Theme.gapSmall
        visible: root.monitor.severalModels
        sentence: qsTr("Other models answered here, too. The charts show %1 alone.").arg(root.monitor.recordingModel)
    }
    PanelNote {
        objectName: "earlierNote"
        Layout.fillWidth: true
        Layout.topMargin: Theme.gapTiny
        Layout.leftMargin: Theme.gapSmall
        Layout.rightMargin: Theme.gapSmall
        visible: root.monitor.earlier && !root.elsewhere
        sentence: root.dated(qsTr("Kept from earlier: %1, on %2. The next answer goes on after it."))
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
