// Shows what the model thought before it answered: open while it thinks, folded away when it is done.
import QtQuick
import QtQuick.Controls
import Spillway.Ui.Components
import Spillway.Ui.Theme

Item {
    id: root

    required property BlockDelegate block

    readonly property bool thinking: block.thinking
    readonly property bool open: chosen ? wanted : thinking
    property bool chosen: false // the user has opened or closed it, and it stays so
    property bool wanted: false

    function scrollSideways(distance) {
        return (body.item as Blocks)?.scrollSideways(distance) ?? false;
    }

    objectName: "reasoningBlock"
    implicitHeight: head.height + (open ? body.height + Theme.gapSmall : 0)

    AbstractButton {
        id: head

        objectName: "reasoningButton"
        height: Theme.px(30)
        width: Math.min(implicitWidth, parent.width)
        leftPadding: Theme.gapSmall
        rightPadding: Theme.px(10)
        hoverEnabled: true
        text: {
            if (root.thinking)
                return qsTr("Thinking …");
            const ms = root.block.thoughtMs;
            return ms === undefined ? qsTr("Thoughts") : qsTr("Thought for %1").arg(Format.duration(ms));
        }
        onClicked: {
            root.wanted = !root.open;
            root.chosen = true;
        }
        Keys.onReturnPressed: event => {
            if (!event.isAutoRepeat)
                clicked();
        }
        Keys.onEnterPressed: event => {
            if (!event.isAutoRepeat)
                clicked();
        }

        Accessible.role: Accessible.Button
        Accessible.name: text
        Accessible.checkable: true
        Accessible.checked: root.open
        Accessible.onPressAction: clicked()

        background: Rectangle {
            radius: Theme.radiusSmall
            color: head.hovered || head.down ? Theme.hover : "transparent"

            FocusRing { visible: head.visualFocus }
        }
        contentItem: Row {
            spacing: Theme.gapTiny + 2

            Picture {
                anchors.verticalCenter: parent.verticalCenter
                source: "qrc:/icons/unfold.svg"
                size: Theme.px(14)
                rotation: root.open ? 0 : -90
            }
            Text {
                anchors.verticalCenter: parent.verticalCenter
                text: head.text
                textFormat: Text.PlainText
                font.pixelSize: Theme.sizeSmall
                font.weight: Font.Medium
                color: Theme.textMuted
            }
        }
    }

    Rectangle {
        visible: root.open
        x: Theme.px(14)
        y: body.y
        width: Theme.px(2)
        height: body.height
        color: Theme.border
    }
    // Before Qt 6.5 a Loader cannot make bound components, and the linter takes outer ids in them for unqualified.
    // qmllint disable unqualified
    Loader {
        id: body

        x: Theme.px(30)
        y: head.height + Theme.gapSmall
        width: parent.width - x
        active: root.open
        sourceComponent: Blocks {
            width: body.width
            blocks: root.block.thoughts
            onCopyRequested: text => root.block.copyRequested(text)
            onLinkRequested: link => root.block.linkRequested(link)
        }
    }
}
