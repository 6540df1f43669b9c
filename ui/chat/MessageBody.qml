// What a message says: its blocks, or the text behind them.
import QtQuick
import Spillway.App
import Spillway.Ui.Components
import Spillway.Ui.Theme

Rectangle {
    id: root

    required property bool mine
    required property int widest
    required property BlockModel blocks
    required property string beginning // of the user's words
    required property string rawText   // shown instead of the blocks
    required property bool focused

    readonly property bool raw: rawText !== ""
    readonly property int wanted: raw ? widest * 0.84 : Math.min(measure.implicitWidth + 2 * Theme.gap + 1, widest * 0.84)

    implicitHeight: body.height + (mine ? 2 * Theme.gapSmall : 0)
    radius: Theme.radiusLarge
    color: mine ? Theme.sunken : "transparent"

    FocusRing {
        visible: root.focused
        gap: root.mine ? 2 : Theme.gapSmall
    }

    // How wide the user's words would like to be.
    Text {
        id: measure

        visible: false
        text: root.beginning
        textFormat: Text.PlainText
        font.pixelSize: Theme.sizeBody
    }

    Column {
        id: body

        x: root.mine ? Theme.gap : 0
        y: root.mine ? Theme.gapSmall + Theme.px(2) : 0 // the room between lines is below each of them
        width: parent.width - 2 * x

        Repeater {
            model: root.raw ? null : root.blocks
            delegate: TextBlock {
                width: body.width
            }
        }
        Loader {
            width: body.width
            active: root.raw
            visible: active
            sourceComponent: TextBlock {
                objectName: "rawBlock"
                content: root.rawText
                font.family: "monospace"
                font.pixelSize: Theme.sizeSmall
            }
        }
    }
}
