// Shows the blocks of one message. The middle of a very long message is shown when it is asked for.
pragma ComponentBehavior: Bound

import QtQuick
import Spillway.App

Column {
    id: root

    required property BlockModel blocks
    property int head: 60 // blocks at the start that are always shown
    property int tail: 40 // and at the end

    signal copyRequested(string text)
    signal linkRequested(string link)

    // Returns the y above which this share of a block's text lies, and shows the block if it was not shown yet. Without
    // types: Qt 6.4 compiles a typed one to code that reads wrong properties, and crashes.
    function yOf(block, share) {
        if (block >= head && block < repeater.count - tail)
            head = block + 1;
        const item = repeater.itemAt(block);
        return item ? item.y + share * item.height : 0;
    }

    // False: nothing moved.
    function scrollSideways(distance) {
        let moved = false;
        for (let i = 0; i < repeater.count; ++i)
            moved = (repeater.itemAt(i) as BlockDelegate)?.scrollSideways(distance) || moved;
        return moved;
    }

    objectName: "blocks"

    Repeater {
        id: repeater

        model: root.blocks
        delegate: BlockDelegate {
            width: root.width
            blocks: root.blocks
            shown: index < root.head || index >= repeater.count - root.tail
            more: index === root.head
            onCopyRequested: text => root.copyRequested(text)
            onLinkRequested: link => root.linkRequested(link)
            onMoreRequested: root.head += 60
        }
    }
}
