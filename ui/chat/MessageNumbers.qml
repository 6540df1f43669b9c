// Shows the numbers of an answer in a line, as many as there is room for, and all of them when the pointer or the
// keyboard is on it.
import QtQuick
import QtQuick.Controls
import Spillway.Ui.Components
import Spillway.Ui.Theme

AbstractButton {
    id: root

    required property var message // the delegate, with the roles of MessageModel
    property bool brief: false // only a few are shown; the tip has all

    readonly property bool drafted: (message.draftedTokens ?? 0) > 0

    function tokens(count: var): string {
        return count === 1 ? qsTr("1 token") : qsTr("%1 tokens").arg(Format.count(count));
    }
    readonly property var numbers: {
        const all = [];
        if (message.ownTokens !== undefined)
            all.push(tokens(message.ownTokens));
        if (message.tokensPerSecond !== undefined)
            all.push(Format.tokensPerSecond(message.tokensPerSecond));
        if (message.ttftMs !== undefined && !brief)
            all.push(qsTr("first after %1").arg(Format.milliseconds(message.ttftMs)));
        if (drafted && !brief)
            all.push(qsTr("%1 of %2 guessed tokens were right").arg(Format.count(message.acceptedTokens)).arg(Format.count(message.draftedTokens)));
        return all;
    }

    // Returns this many numbers, from the first on, with a mark where there are more.
    function line(most: int): string {
        let some = "";
        for (let i = 0; i < Math.min(most, numbers.length); ++i)
            some = Format.also(some, numbers[i]);
        return most < numbers.length ? Format.also(some, "…") : some;
    }
    // Returns a line's width. Reads the size of the text, so that bindings are evaluated again when that changes, which
    // a call of FontMetrics alone does not cause.
    function widthOf(line: string): real {
        return metrics.font.pixelSize > 0 ? Math.ceil(metrics.advanceWidth(line)) : 0;
    }
    function fitting(): string {
        let most = numbers.length;
        while (most > 1 && widthOf(line(most)) > width)
            --most;
        return line(most);
    }
    function ledger(): string {
        const lines = [];
        if (message.modelName !== "")
            lines.push(message.modelName);
        if (message.promptTokens !== undefined)
            lines.push(qsTr("Prompt: %1").arg(tokens(message.promptTokens)));
        if (message.templateTokens !== undefined)
            lines.push(qsTr("of them the template: %1").arg(Format.count(message.templateTokens)));
        if (message.ownTokens !== undefined)
            lines.push(qsTr("Answer: %1").arg(tokens(message.ownTokens)));
        if (message.ttftMs !== undefined)
            lines.push(qsTr("First token after %1").arg(Format.milliseconds(message.ttftMs)));
        if (message.tokensPerSecond !== undefined)
            lines.push(qsTr("Then %1").arg(Format.tokensPerSecond(message.tokensPerSecond)));
        if (drafted)
            lines.push(qsTr("Guessed ahead: %1, of which the answer has %2").arg(tokens(message.draftedTokens)).arg(Format.count(message.acceptedTokens)));
        return lines.join("\n");
    }

    implicitWidth: widthOf(text)
    implicitHeight: Theme.px(30)
    text: line(numbers.length)
    hoverEnabled: true

    Accessible.role: Accessible.StaticText
    Accessible.name: root.text
    Accessible.description: root.ledger()

    background: Rectangle {
        radius: Theme.radiusSmall
        color: "transparent"

        FocusRing {
            gap: 0
            visible: root.visualFocus
        }
    }
    contentItem: Text {
        objectName: "shownNumbers"
        text: root.fitting()
        textFormat: Text.PlainText
        elide: Text.ElideRight
        verticalAlignment: Text.AlignVCenter
        font.pixelSize: Theme.sizeSmall
        color: Theme.textMuted
        Accessible.ignored: true
    }

    FontMetrics {
        id: metrics

        font.pixelSize: Theme.sizeSmall
    }
    Tip {
        objectName: "ledgerTip"
        visible: root.hovered || root.visualFocus
        text: root.ledger()
    }
}
