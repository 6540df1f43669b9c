// One thing that moved.
import QtQuick
import Spillway.Ui.Theme

Item {
    id: root

    required property date time
    required property int kind
    required property string kindName
    required property string causeName
    required property int blocks
    required property real bytes
    required property real us
    required property int first
    required property int last
    required property string sentence

    readonly property color ink: kind === 0 ? Theme.kvOnHost : kind === 1 ? Theme.kvOnDevice : kind === 2 ? Theme.weights
                                : kind === 4 ? Theme.borderStrong : Theme.danger
    readonly property string what: first >= 0 ? qsTr("tokens %1–%2").arg(Format.count(first)).arg(Format.count(last)) : sentence
    readonly property string cost: joined([bytes > 0 ? Format.bytes(bytes) : "", us > 0 ? Format.microseconds(us) : "", causeName])

    function joined(parts: var): string {
        return parts.filter(part => part !== "").join("  ·  ");
    }

    signal pointedAt(int token) // -1: no more

    implicitHeight: words.implicitHeight + Theme.px(6)

    Accessible.role: Accessible.ListItem
    Accessible.name: root.kindName + ", " + root.what + ", " + root.cost

    HoverHandler {
        onHoveredChanged: root.pointedAt(hovered ? root.first : -1)
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

                width: parent.width - clock.width - Theme.gapSmall
                text: root.kindName + "  " + root.what
                textFormat: Text.PlainText
                elide: Text.ElideRight
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
            width: parent.width
            visible: text !== ""
            text: root.cost
            textFormat: Text.PlainText
            elide: Text.ElideRight
            font.pixelSize: Theme.px(12)
            color: Theme.textMuted
        }
    }
}
