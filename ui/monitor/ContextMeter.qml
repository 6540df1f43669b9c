// Shows how much of the context is used. A press shows its parts.
import QtQuick
import QtQuick.Controls
import Spillway.Ui.Components
import Spillway.Ui.Theme

AbstractButton {
    id: root

    required property int tokens
    required property int limit
    property bool brief: false // without its name

    readonly property int used: limit > 0 ? Math.min(tokens, limit) : tokens // a prompt that is too long is not taken
    readonly property string numbers: limit > 0 ? qsTr("%1 / %2").arg(Format.count(used)).arg(Format.count(limit)) : Format.count(used) // a server may not say
    readonly property real fullWidth: 2 * padding + words.advanceWidth(qsTr("Context") + numbers) + barWidth + 2 * Theme.gapSmall // with its name
    readonly property real barWidth: Theme.px(64)

    readonly property real share: limit > 0 ? Math.min(1, tokens / limit) : 0
    readonly property bool nearlyFull: share >= 0.85
    readonly property bool full: limit > 0 && tokens >= limit

    padding: Theme.gapTiny
    hoverEnabled: true

    Accessible.role: Accessible.Button
    Accessible.name: root.limit <= 0 ? qsTr("Context: %1 tokens used").arg(Format.count(root.used)) : qsTr("Context: %1 of %2 tokens used").arg(Format.count(root.used)).arg(Format.count(root.limit))
    Accessible.description: qsTr("Shows what fills the context")
    Accessible.onPressAction: root.clicked()
    Keys.onReturnPressed: event => {
        if (!event.isAutoRepeat)
            clicked();
    }
    Keys.onEnterPressed: event => {
        if (!event.isAutoRepeat)
            clicked();
    }

    FontMetrics {
        id: words

        font.pixelSize: Theme.sizeSmall
        font.weight: Font.Medium
    }

    background: Rectangle {
        radius: Theme.radiusSmall
        color: root.hovered || root.down ? Theme.hover : "transparent"

        FocusRing { visible: root.visualFocus; gap: 0 }
    }
    contentItem: Row {
        spacing: Theme.gapSmall

        Text {
            anchors.verticalCenter: parent.verticalCenter
            visible: !root.brief
            text: qsTr("Context")
            textFormat: Text.PlainText
            font.pixelSize: Theme.sizeSmall
            color: Theme.textMuted
            Accessible.ignored: true
        }
        ProgressLine {
            objectName: "contextBar"
            anchors.verticalCenter: parent.verticalCenter
            visible: root.limit > 0
            width: root.barWidth
            value: root.share
            fill: root.full ? Theme.danger : root.nearlyFull ? Theme.warning : Theme.accent
            Accessible.ignored: true
        }
        Text {
            objectName: "contextText"
            anchors.verticalCenter: parent.verticalCenter
            text: root.numbers
            textFormat: Text.PlainText
            font.pixelSize: Theme.sizeSmall
            font.weight: Font.Medium
            color: root.full ? Theme.danger : root.nearlyFull ? Theme.warning : Theme.text
            Accessible.ignored: true
        }
    }
}
