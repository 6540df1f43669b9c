// Says below the message what it costs, why Enter did nothing, whether files and a long paste were taken, and whether
// the conversation had to be read anew.
import QtQuick
import QtQuick.Layouts
import Spillway.App
import Spillway.Ui.Components
import Spillway.Ui.Theme

ColumnLayout {
    id: root

    required property ComposerController composer
    property bool refused: false
    property string savedNote: "" // how much of the conversation's KV was read from the disk, or why none

    readonly property AttachmentModel files: composer.attachments

    signal insertRequested(string text)

    function cost(): string {
        const tokens = composer.tokens === 1 ? qsTr("1 token") : qsTr("%1 tokens").arg(Format.count(composer.tokens));
        if (composer.tooMuch) // what the engine would say if it were sent
            return qsTr("With this message the prompt needs %1 tokens, and the context holds %2.").arg(Format.count(composer.promptTokens)).arg(Format.count(composer.contextTokens));
        if (composer.counting)
            return qsTr("Counting tokens…");
        if (composer.tokens === 0)
            return "";
        return composer.tokensLeft > 0 ? qsTr("%1 to send, room for %2").arg(tokens).arg(Format.count(composer.tokensLeft))
                                       : qsTr("%1 to send").arg(tokens);
    }

    spacing: Theme.gapTiny

    Text {
        objectName: "refusal"
        Layout.leftMargin: Theme.gapSmall
        Layout.fillWidth: true
        visible: root.refused && text !== ""
        text: root.composer.obstacle
        textFormat: Text.PlainText
        wrapMode: Text.Wrap
        font.pixelSize: Theme.sizeSmall
        color: Theme.warning
        // The note goes when Enter would send again.
        onTextChanged: {
            if (root.composer.obstacle === "")
                root.refused = false;
        }

        Accessible.role: Accessible.AlertMessage
        Accessible.name: text
    }
    Text {
        objectName: "savedNote"
        Layout.leftMargin: Theme.gapSmall
        Layout.fillWidth: true
        visible: text !== ""
        text: root.savedNote
        textFormat: Text.PlainText
        wrapMode: Text.Wrap
        font.pixelSize: Theme.sizeSmall
        color: Theme.textMuted

        Accessible.role: Accessible.StaticText
        Accessible.name: text
    }
    Text {
        objectName: "messageCost"
        Layout.leftMargin: Theme.gapSmall
        Layout.fillWidth: true
        visible: text !== ""
        text: root.cost()
        textFormat: Text.PlainText
        wrapMode: Text.Wrap
        font.pixelSize: Theme.sizeSmall
        color: root.composer.tooMuch ? Theme.danger : Theme.textMuted

        Accessible.role: root.composer.tooMuch ? Accessible.AlertMessage : Accessible.StaticText
        Accessible.name: text
    }
    Notice {
        objectName: "attachmentNotice"
        Layout.fillWidth: true
        visible: root.files.notice !== ""
        kind: Notice.Warning
        sentence: root.files.notice
        onDismissRequested: root.files.dismissNotice()
    }
    Notice {
        objectName: "pasteNotice"
        Layout.fillWidth: true
        visible: root.composer.pasteBecameFile
        kind: Notice.Warning
        sentence: qsTr("The long paste became a file.")
        actionText: qsTr("Put it into the message")
        onActionRequested: root.insertRequested(root.composer.takePasteBack())
        onDismissRequested: root.composer.keepPasteAsFile()
    }
}
