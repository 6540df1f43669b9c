// Shows the contents of a message: its blocks, or the text from which they are made.
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
    required property var guessed      // places in it where guessed pieces begin and end, by turns
    required property bool focused
    required property bool unfolded // all of a long message of the user's is shown

    signal copyRequested(string text)
    signal linkRequested(string link)
    signal foldRequested(bool folded)

    readonly property bool raw: rawText !== ""
    readonly property int twelveLines: 12 * Math.round(Theme.sizeBody * 1.5)
    readonly property bool foldable: mine && !raw && blockColumn.height > 1.4 * twelveLines
    readonly property bool folded: foldable && !unfolded
    // The width of the bubble. Until the words are measured they get all the room there is, since their height, which
    // the list reads at once, is then the same as later. With a height that changes afterwards the list may create and
    // destroy a message for ever.
    readonly property int wanted: raw || measure.implicitWidth === 0 || beginning.includes("```") ? most : Math.min(measure.implicitWidth + 2 * Theme.gap + 1, most)
    readonly property int most: widest * 0.84

    function yOf(block: int, share: real): real {
        const within = raw ? 0 : blockColumn.yOf(block, share);
        if (folded && within > twelveLines)
            foldRequested(false);
        return body.y + within;
    }

    function scrollSideways(distance: real) {
        blockColumn.scrollSideways(distance);
    }

    implicitHeight: body.height + (mine ? 2 * Theme.gapSmall : 0)
    radius: Theme.radiusLarge
    color: mine ? Theme.sunken : "transparent"

    FocusRing {
        visible: root.focused
        gap: root.mine ? 2 : Theme.gapSmall
    }

    // Measures how wide the user's words are on one line each.
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
        y: root.mine ? Theme.gapSmall + Theme.px(2) : 0 // evens out the space below the last line
        // Not the parent's width, which is known only after the layout: the list reads this height before.
        width: (root.mine ? root.wanted : root.widest) - 2 * x

        Item {
            objectName: "messageFold"
            width: body.width
            height: root.folded ? root.twelveLines : blockColumn.height
            clip: root.folded

            Blocks {
                id: blockColumn

                width: body.width
                blocks: root.raw ? null : root.blocks
                onCopyRequested: text => root.copyRequested(text)
                onLinkRequested: link => root.linkRequested(link)
            }
            Rectangle { // fades the text out where it goes on below
                anchors.bottom: parent.bottom
                width: parent.width
                height: Theme.px(36)
                visible: root.folded
                gradient: Gradient {
                    GradientStop {
                        position: 0
                        color: Qt.alpha(root.color, 0)
                    }
                    GradientStop {
                        position: 1
                        color: root.color
                    }
                }
            }
        }
        ActionButton {
            objectName: "foldButton"
            visible: root.foldable
            text: root.folded ? qsTr("Show all") : qsTr("Show less")
            onClicked: root.foldRequested(!root.folded)
        }
        // Before Qt 6.5 a Loader cannot make bound components, and the linter takes outer ids in them for unqualified.
        // qmllint disable unqualified
        Loader {
            width: body.width
            active: root.raw
            visible: active
            sourceComponent: RawAnswer {
                content: root.rawText
                guessed: root.guessed
            }
        }
    }
}
