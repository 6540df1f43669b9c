// Shows a place where the words were found: the conversation's title above its first one, and some of the text around
// it.
import QtQuick
import QtQuick.Controls
import Spillway.Ui.Components
import Spillway.Ui.Theme

ItemDelegate {
    id: root

    required property int index
    required property string conversationId
    required property string messageId
    required property string title
    required property string plainTitle
    required property string excerpt
    required property string plainExcerpt
    required property bool first
    property bool keyboardHere: false

    readonly property string foundMark: "<font color=\"" + Theme.accent + "\"><b>"

    signal openRequested

    // Returns the model's markup, in which found words are bold, with these coloured as well.
    function coloured(markup: string): string {
        return markup.replace(/<b>/g, foundMark).replace(/<\/b>/g, "</b></font>");
    }

    leftPadding: Theme.px(10)
    rightPadding: Theme.px(10)
    topPadding: first ? Theme.px(10) : Theme.px(3)
    bottomPadding: Theme.px(5)
    hoverEnabled: true
    focusPolicy: Qt.NoFocus
    onClicked: root.openRequested()

    Accessible.role: Accessible.ListItem
    Accessible.name: root.plainExcerpt === "" ? root.plainTitle : Format.filled(qsTr("%1: %2"), [root.plainTitle, root.plainExcerpt])
    Accessible.focusable: true
    Accessible.onPressAction: root.openRequested()

    contentItem: Column {
        spacing: 2

        Text {
            objectName: "hitTitle"
            width: parent.width
            visible: root.first
            text: root.title === "" ? qsTr("New conversation") : root.coloured(root.title)
            textFormat: Text.StyledText
            elide: Text.ElideRight
            maximumLineCount: 1
            font.pixelSize: Theme.sizeSmall + 1
            font.weight: Font.Medium
            color: Theme.text
            Accessible.ignored: true
        }
        Text {
            objectName: "hitExcerpt"
            width: parent.width
            visible: root.excerpt !== ""
            text: root.coloured(root.excerpt)
            textFormat: Text.StyledText
            wrapMode: Text.Wrap
            elide: Text.ElideRight
            maximumLineCount: 3
            font.pixelSize: Theme.sizeSmall
            color: Theme.textMuted
            Accessible.ignored: true
        }
    }
    background: Rectangle {
        radius: Theme.radiusSmall
        color: root.hovered ? Theme.hover : "transparent"

        FocusRing {
            visible: root.keyboardHere
            gap: -2
        }
    }
}
