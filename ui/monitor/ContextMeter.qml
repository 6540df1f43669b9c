// How much of the context is used.
import QtQuick
import Spillway.Ui.Components
import Spillway.Ui.Theme

Row {
    id: root

    required property int tokens
    required property int limit

    readonly property real share: limit > 0 ? Math.min(1, tokens / limit) : 0
    readonly property bool nearlyFull: share >= 0.85
    readonly property bool full: limit > 0 && tokens >= limit

    spacing: Theme.gapSmall

    Accessible.role: Accessible.ProgressBar
    Accessible.name: qsTr("Context: %1 of %2 tokens used").arg(Format.count(root.tokens)).arg(Format.count(root.limit))

    Text {
        anchors.verticalCenter: parent.verticalCenter
        text: qsTr("Context")
        textFormat: Text.PlainText
        font.pixelSize: Theme.sizeSmall
        color: Theme.textMuted
        Accessible.ignored: true
    }
    ProgressLine {
        objectName: "contextBar"
        anchors.verticalCenter: parent.verticalCenter
        width: 96
        value: root.share
        fill: root.full ? Theme.danger : root.nearlyFull ? Theme.warning : Theme.accent
        Accessible.ignored: true
    }
    Text {
        objectName: "contextText"
        anchors.verticalCenter: parent.verticalCenter
        text: qsTr("%1 / %2").arg(Format.count(root.tokens)).arg(Format.count(root.limit))
        textFormat: Text.PlainText
        font.pixelSize: Theme.sizeSmall
        font.weight: Font.Medium
        color: root.full ? Theme.danger : root.nearlyFull ? Theme.warning : Theme.text
        Accessible.ignored: true
    }
}
