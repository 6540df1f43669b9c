// Shows what a message says: its blocks, or the text behind them.
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
    required property var guessed      // of it: where guessed pieces begin and end, by turns
    required property bool focused
    required property bool unfolded // all of a long message of the user's is shown

    signal copyRequested(string text)
    signal linkRequested(string link)
    signal foldRequested(bool folded)

    readonly property bool raw: rawText !== ""
    readonly property int twelveLines: 12 * Math.round(Theme.sizeBody * 1.5)
    readonly property bool foldable: mine && !raw && blockColumn.height > 1.4 * twelveLines
    readonly property bool folded: foldable && !unfolded
    // The words are measured when they are complete. Until then they get all the room there is: their height, which the
    // list asks for at once, is the same as it will be. A height that changes afterwards can let the list make and drop a
    // message for ever.
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
        // Not the parent's, which is known only when the layout has been done: the list asks how high this is before.
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
            Rectangle { // it goes on below
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
        // Before Qt 6.5 a Loader cannot make bound components, so what is in them is not found to be qualified.
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
