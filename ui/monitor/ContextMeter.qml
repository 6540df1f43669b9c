// How much of the context is used. A press shows by what.
import QtQuick
import QtQuick.Controls
import Spillway.Ui.Components
import Spillway.Ui.Theme

AbstractButton {
    id: root

    required property int tokens
    required property int limit
    property bool brief: false // without its name

    readonly property real fullWidth: 2 * padding + name.implicitWidth + bar.width + numbers.implicitWidth + 2 * line.spacing // with it

    readonly property real share: limit > 0 ? Math.min(1, tokens / limit) : 0
    readonly property bool nearlyFull: share >= 0.85
    readonly property bool full: limit > 0 && tokens >= limit

    padding: Theme.gapTiny
    hoverEnabled: true

    Accessible.role: Accessible.Button
    Accessible.name: qsTr("Context: %1 of %2 tokens used").arg(Format.count(root.tokens)).arg(Format.count(root.limit))
    Accessible.description: qsTr("Shows what fills the context")
    Accessible.onPressAction: root.clicked()
    Keys.onReturnPressed: clicked()

    background: Rectangle {
        radius: Theme.radiusSmall
        color: root.hovered || root.down ? Theme.hover : "transparent"

        FocusRing { visible: root.visualFocus; gap: 0 }
    }
    contentItem: Row {
        id: line

        spacing: Theme.gapSmall

        Text {
            id: name

            anchors.verticalCenter: parent.verticalCenter
            visible: !root.brief
            text: qsTr("Context")
            textFormat: Text.PlainText
            font.pixelSize: Theme.sizeSmall
            color: Theme.textMuted
            Accessible.ignored: true
        }
        ProgressLine {
            id: bar

            objectName: "contextBar"
            anchors.verticalCenter: parent.verticalCenter
            width: Theme.px(64)
            value: root.share
            fill: root.full ? Theme.danger : root.nearlyFull ? Theme.warning : Theme.accent
            Accessible.ignored: true
        }
        Text {
            id: numbers

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
}
