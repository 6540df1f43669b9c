// Draws one block of a message by its kind.
import QtQuick
import Spillway.App
import Spillway.Ui.Components
import Spillway.Ui.Theme

Item {
    id: root

    // from the model
    required property int index
    required property int kind
    required property string content
    required property var paragraphs
    required property string language
    required property string languageTitle
    required property int codeState
    required property var table
    required property string formula
    required property int indent
    required property int quotes
    required property bool mirrored
    required property bool continues
    required property BlockModel thoughts
    required property bool thinking
    required property var thoughtMs

    // from the message
    required property BlockModel blocks
    property bool shown: true
    property bool more: false // where it is not shown: the button to show it stands here

    signal copyRequested(string text)
    signal linkRequested(string link)
    signal moreRequested

    // Scrolls a table or code that is wider than the page; other blocks never are. False: nothing moved.
    function scrollSideways(distance) {
        const wide = (body.item as SidewaysView) ?? (body.item as CodeBlock) ?? (body.item as Loader)?.item;
        return wide ? wide.scrollSideways(distance) : false; // qmllint disable
    }

    readonly property int inset: Math.min(indent, 8) * Theme.px(26)
    readonly property int bars: Math.min(quotes, 6)
    readonly property bool joined: continues && kind === BlockModel.Code // drawn together with the block above
    readonly property int gapAbove: index === 0 || joined || (continues && kind === BlockModel.Text) ? 0 : Theme.px(12)

    implicitHeight: body.active ? gapAbove + body.implicitHeight : 0

    // Before Qt 6.5 a Loader cannot make bound components, and the linter takes outer ids in them for unqualified.
    // qmllint disable unqualified
    Repeater {
        model: root.shown ? root.bars : 0
        delegate: Rectangle {
            required property int index

            readonly property real along: root.inset + index * Theme.px(16)

            objectName: "quoteBar"
            x: root.mirrored ? root.width - along - width : along
            y: root.gapAbove
            width: Theme.px(3)
            height: root.height - root.gapAbove
            radius: width / 2
            color: Theme.borderStrong
        }
    }

    Loader {
        id: body

        readonly property int beside: root.inset + root.bars * Theme.px(16)

        x: root.mirrored ? 0 : beside
        y: root.gapAbove
        width: root.width - beside
        active: root.shown || root.more
        sourceComponent: {
            if (!root.shown)
                return more;
            switch (root.kind) {
            case BlockModel.Code: return code;
            case BlockModel.Table: return table;
            case BlockModel.Maths: return maths;
            case BlockModel.Rule: return rule;
            case BlockModel.Reasoning: return reasoning;
            default: return text;
            }
        }
    }

    Component {
        id: text
        TextBlock {
            paragraphs: root.paragraphs
            content: root.content
            first: root.index === 0
            follows: root.continues
            color: root.quotes > 0 ? Theme.textMuted : Theme.text
            onLinkRequested: link => root.linkRequested(link)
        }
    }
    Component {
        id: code
        CodeBlock {
            content: root.content
            language: root.language
            title: root.languageTitle
            startState: root.codeState
            first: !root.continues
            onCopyRequested: root.copyRequested(root.blocks.codeText(root.index))
        }
    }
    Component {
        id: table
        TableBlock {
            table: root.table
            content: root.content
            onLinkRequested: link => root.linkRequested(link)
        }
    }
    Component {
        id: maths
        MathsBlock {
            content: root.content
            formula: root.formula
        }
    }
    Component {
        id: rule
        Item {
            implicitHeight: Theme.px(17)
            Rectangle {
                y: Theme.px(8)
                width: parent.width
                height: 1
                color: Theme.border
            }
        }
    }
    // Loaded by its file's name: a reasoning holds blocks itself, and types must not contain each other.
    Component {
        id: reasoning
        Loader {
            Component.onCompleted: setSource("ReasoningBlock.qml", { block: root })
        }
    }
    Component {
        id: more
        Item {
            implicitHeight: button.implicitHeight + 2 * Theme.gap
            ActionButton {
                id: button

                objectName: "showMore"
                anchors.centerIn: parent
                text: qsTr("Show more of this message")
                onClicked: root.moreRequested()
            }
        }
    }
}
