// Shows the parts of the context: a bar, and a line for each.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Layouts
import Spillway.App
import Spillway.Ui.Components
import Spillway.Ui.Theme

ColumnLayout {
    id: root

    required property ChatController chat
    required property ComposerController composer

    readonly property contextLedger ledger: chat.context.ledger
    readonly property int written: Math.max(0, chat.telemetry.contextTokens - ledger.total) // since it was counted
    readonly property int used: ledger.total + written
    readonly property int answer: Math.max(0, Math.min(ledger.answerReserve - written, ledger.limit - used - composer.tokens))
    readonly property int free: Math.max(0, ledger.limit - used - composer.tokens - answer)
    readonly property var parts: [
        { key: "template", name: qsTr("Chat template"), tokens: ledger.templateTokens, color: Theme.textMuted, drawn: true },
        { key: "system", name: qsTr("System prompt"), tokens: ledger.systemTokens, color: Theme.warning, drawn: true },
        { key: "messages", name: qsTr("Messages"), tokens: ledger.messageTokens - ledger.attachedTokens, color: Theme.accent, drawn: true },
        { key: "attached", name: qsTr("Attached files"), tokens: ledger.attachedTokens, color: Qt.alpha(Theme.accent, 0.55), drawn: true },
        { key: "written", name: qsTr("The answer so far"), tokens: written, color: Theme.accent, drawn: true },
        { key: "draft", name: qsTr("What you are writing"), tokens: composer.tokens, color: Theme.written, drawn: true },
        { key: "answer", name: qsTr("Kept for the answer"), tokens: answer, color: Theme.borderStrong, drawn: true },
        { key: "free", name: qsTr("Free"), tokens: free, color: "transparent", drawn: false }
    ]

    spacing: Theme.gapSmall

    Accessible.role: Accessible.Dialog
    Accessible.name: qsTr("What fills the context")

    Text {
        objectName: "ledgerUsed"
        Layout.fillWidth: true
        text: !root.ledger.known ? qsTr("Not counted yet.")
            : root.used > root.ledger.limit ? qsTr("The next prompt needs %1 tokens, and the context holds %2.").arg(Format.count(root.used)).arg(Format.count(root.ledger.limit))
            : qsTr("%1 of %2 tokens are used").arg(Format.count(root.used)).arg(Format.count(root.ledger.limit))
        textFormat: Text.PlainText
        wrapMode: Text.Wrap
        font.pixelSize: Theme.sizeBody
        font.weight: Font.DemiBold
        color: Theme.text
    }
    Rectangle {
        id: bar

        objectName: "ledgerBar"
        Layout.fillWidth: true
        implicitHeight: Theme.px(14)
        radius: Theme.px(4)
        color: Theme.dark ? Theme.hover : Theme.border
        clip: true

        Accessible.ignored: true

        Row {
            Repeater {
                model: root.parts.length // a number: the lines are kept when their values change
                delegate: Rectangle {
                    required property int index
                    readonly property var modelData: root.parts[index]

                    width: root.ledger.limit > 0 && modelData.drawn ? bar.width * modelData.tokens / root.ledger.limit : 0
                    height: bar.height
                    color: modelData.color
                }
            }
        }
    }
    LayoutRepeater {
        model: root.parts.length
        delegate: RowLayout {
            id: line

            required property int index
            readonly property var modelData: root.parts[index]

            objectName: "ledger_" + modelData.key
            visible: modelData.tokens > 0 || modelData.key === "free"
            spacing: Theme.gapSmall

            Accessible.role: Accessible.StaticText
            Accessible.name: qsTr("%1: %2 tokens").arg(modelData.name).arg(Format.count(modelData.tokens))

            Rectangle {
                implicitWidth: Theme.px(10)
                implicitHeight: Theme.px(10)
                radius: 2
                color: line.modelData.color
                border.width: line.modelData.drawn ? 0 : 1
                border.color: Theme.borderStrong
            }
            Text {
                Layout.fillWidth: true
                text: line.modelData.name
                textFormat: Text.PlainText
                elide: Text.ElideRight
                font.pixelSize: Theme.sizeSmall
                color: Theme.text
                Accessible.ignored: true
            }
            Text {
                text: Format.count(line.modelData.tokens)
                textFormat: Text.PlainText
                font.pixelSize: Theme.sizeSmall
                font.weight: Font.Medium
                color: Theme.text
                Accessible.ignored: true
            }
        }
    }
}
