// Shows one event of the list of moves.
import QtQuick
import Spillway.Ui.Theme

Item {
    id: root

    required property date time
    required property int kind
    required property string title
    required property string detail // empty: the title is enough
    required property string causeName
    required property int blocks
    required property real bytes
    required property real us
    required property int first
    required property int last
    required property string message // name of the message that the tokens belong to; empty: not known
    required property string messageId
    required property int messageCount
    property bool chosen: false // by the keyboard or a click

    readonly property color ink: kind === 0 ? Theme.kvOnHost : kind === 1 ? Theme.kvOnDevice : kind === 2 ? Theme.weights
                                : kind === 3 || kind === 5 ? Theme.danger : Theme.borderStrong // a lost device, a warning
    readonly property string what: first >= 0 ? Format.unbroken(qsTr("tokens %1–%2").arg(Format.count(first)).arg(Format.count(last))) : ""
    readonly property string whose: messageCount > 1 ? Format.filled(qsTr("%1 and %2 more"), [message, Format.count(messageCount - 1)]) : message
    readonly property string cost: joined([bytes > 0 ? Format.bytes(bytes) : "", us > 0 ? Format.microseconds(us) : "", causeName], "  ·  ")

    function joined(parts: var, between: string): string {
        return parts.filter(part => part !== "").join(between);
    }

    signal pointedAt(string message) // empty: at no message any more
    signal clicked

    implicitHeight: words.implicitHeight + Theme.px(6)

    Accessible.role: Accessible.ListItem
    Accessible.name: joined([root.title, root.what, root.detail, root.whose, root.cost], ", ")
    Accessible.selected: root.chosen

    HoverHandler {
        onHoveredChanged: root.pointedAt(hovered ? root.messageId : "")
    }
    TapHandler {
        onTapped: root.clicked()
    }
    Rectangle {
        anchors.fill: parent
        visible: root.chosen
        radius: Theme.radiusSmall
        color: Theme.hover
    }
    Rectangle {
        x: 1
        y: Theme.px(7)
        width: Theme.px(8)
        height: width
        radius: 2
        color: root.ink
    }
    Column {
        id: words

        x: Theme.px(16)
        y: Theme.px(3)
        width: parent.width - x

        Item {
            width: parent.width
            height: head.implicitHeight

            Text {
                id: head

                objectName: "eventTitle"
                width: parent.width - clock.width - Theme.gapSmall
                text: root.joined([root.title, root.what], "  ")
                textFormat: Text.PlainText
                wrapMode: Text.Wrap
                font.pixelSize: Theme.sizeSmall
                font.weight: Font.Medium
                color: Theme.text
            }
            Text {
                id: clock

                anchors.right: parent.right
                text: root.time.toLocaleTimeString(Qt.locale(), "hh:mm:ss")
                textFormat: Text.PlainText
                font.pixelSize: Theme.px(12)
                color: Theme.textMuted
            }
        }
        Text {
            objectName: "eventDetail"
            width: parent.width
            visible: text !== ""
            text: root.detail
            textFormat: Text.PlainText
            wrapMode: Text.Wrap
            font.pixelSize: Theme.px(12)
            color: Theme.text
        }
        Item {
            width: parent.width
            height: Math.max(owner.implicitHeight, price.implicitHeight)
            visible: root.message !== "" || root.cost !== ""

            Text {
                id: owner

                width: Math.min(implicitWidth, parent.width - price.width - more.width - Theme.gapSmall)
                text: root.message
                textFormat: Text.PlainText
                elide: Text.ElideRight
                font.pixelSize: Theme.px(12)
                color: Theme.text
            }
            Text {
                id: more

                anchors.left: owner.right
                text: root.messageCount > 1 ? " +" + Format.count(root.messageCount - 1) : ""
                textFormat: Text.PlainText
                font.pixelSize: Theme.px(12)
                color: Theme.textMuted
            }
            Text {
                id: price

                x: root.message === "" ? 0 : parent.width - width
                width: Math.min(implicitWidth, parent.width * (root.message === "" ? 1 : 0.8))
                text: root.cost
                textFormat: Text.PlainText
                elide: Text.ElideRight
                font.pixelSize: Theme.px(12)
                color: Theme.textMuted
            }
        }
    }
}
