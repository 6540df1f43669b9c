// The blocks of one message. Of one that is very long the middle waits until it is asked for.
pragma ComponentBehavior: Bound

import QtQuick
import Spillway.App

Column {
    id: root

    required property BlockModel blocks
    property int head: 60 // blocks at the start that are shown, however many there are
    property int tail: 40 // and at the end

    signal copyRequested(string text)
    signal linkRequested(string link)

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
