// Shows the line of numbers below the conversation: what the engine does now, how fast, and how full the context is.
import QtQuick
import QtQuick.Layouts
import Spillway.App
import Spillway.Ui.Theme

RowLayout {
    id: root

    required property ChatController chat
    required property ComposerController composer

    readonly property LatestTelemetry numbers: chat.telemetry

    function phase(): string {
        switch (chat.turn.state) {
        case ChatTurn.Reading:
            return numbers.promptTokens > 0
                ? qsTr("Reading %1 of %2 tokens").arg(Format.count(numbers.readTokens)).arg(Format.count(numbers.promptTokens))
                : qsTr("Reading");
        case ChatTurn.Answering:
            return qsTr("Answering");
        case ChatTurn.Stopping:
            return qsTr("Stopping");
        default:
            return "";
        }
    }

    readonly property bool popupOpen: ledgerPopup.visible
    readonly property bool hasModel: numbers.contextLimit > 0
    // Too narrow for the names of the numbers, or for them beside the words on what the engine does, whose length
    // changes all the time.
    readonly property bool narrow: width < namedWidth || doing.text !== "" && width < Theme.px(600)
    readonly property bool nameless: narrow || doing.text !== "" // a dash says nothing, and takes the words their room
    readonly property real namedWidth: firstToken.fullWidth + speed.fullWidth + meter.fullWidth + 3 * Theme.gapLarge

    implicitHeight: Theme.px(24)
    spacing: narrow ? Theme.gap : Theme.gapLarge

    Reading {
        id: firstToken

        objectName: "ttft"
        visible: root.hasModel && (!root.nameless || value !== Format.unknown)
        brief: root.narrow
        label: qsTr("First token")
        value: Format.milliseconds(root.numbers.ttftMs)
        explanation: qsTr("Time from sending to the first word (TTFT)")
    }
    Reading {
        id: speed

        objectName: "tps"
        visible: root.hasModel && (!root.nameless || value !== Format.unknown)
        brief: root.narrow
        label: qsTr("Speed")
        value: Format.tokensPerSecond(root.numbers.tokensPerSecond)
        explanation: qsTr("Tokens written per second (TPS)")
    }
    Text {
        id: doing

        objectName: "phase"
        Layout.fillWidth: true
        text: root.phase()
        textFormat: Text.PlainText
        elide: Text.ElideRight
        font.pixelSize: Theme.sizeSmall
        color: Theme.textMuted
    }
    ContextMeter {
        id: meter

        objectName: "contextMeter"
        visible: root.hasModel
        brief: root.narrow
        tokens: Math.max(root.numbers.contextTokens, root.chat.context.ledger.total) // of a prompt that is being read: all of it
        limit: root.numbers.contextLimit
        onClicked: ledgerPopup.opened ? ledgerPopup.close() : ledgerPopup.open()

        LedgerPopup {
            id: ledgerPopup

            objectName: "ledgerPopup"
            x: meter.width - width
            y: -height - Theme.gapSmall
            chat: root.chat
            composer: root.composer
            onClosed: meter.forceActiveFocus(Qt.PopupFocusReason)
        }
    }
}
