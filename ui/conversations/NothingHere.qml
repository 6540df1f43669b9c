// Says in place of a list that it is empty.
import QtQuick
import Spillway.Ui.Components
import Spillway.Ui.Theme

Column {
    id: root

    required property url source
    required property string headline
    required property string detail

    spacing: Theme.gapSmall

    Accessible.role: Accessible.StaticText
    Accessible.name: root.headline + " " + root.detail

    Picture {
        anchors.horizontalCenter: parent.horizontalCenter
        source: root.source
        size: Theme.px(28)
        opacity: 0.7
    }
    Text {
        width: parent.width
        horizontalAlignment: Text.AlignHCenter
        text: root.headline
        textFormat: Text.PlainText
        wrapMode: Text.Wrap
        font.pixelSize: Theme.sizeBody
        font.weight: Font.Medium
        color: Theme.text
        Accessible.ignored: true
    }
    Text {
        width: parent.width
        horizontalAlignment: Text.AlignHCenter
        text: root.detail
        textFormat: Text.PlainText
        wrapMode: Text.Wrap
        font.pixelSize: Theme.sizeSmall
        lineHeight: 1.3
        color: Theme.textMuted
        Accessible.ignored: true
    }
}
