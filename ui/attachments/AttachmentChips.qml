// The files of a message that was sent, at the right as its words. `attachments` is its list of attachmentFacts.
pragma ComponentBehavior: Bound

import QtQuick
import Spillway.Ui.Theme

Flow {
    id: root

    required property var attachments

    signal shown(string name, string text)

    spacing: Theme.gapSmall
    layoutDirection: Qt.RightToLeft
    visible: attachments.length > 0

    Accessible.role: Accessible.List
    Accessible.name: qsTr("Attached files")

    Repeater {
        model: root.attachments.slice().reverse() // so that the first stays the first to be read
        delegate: AttachmentChip {
            required property var modelData

            objectName: "sentChip"
            widest: Math.min(Theme.px(300), root.width)
            name: modelData.name
            bytes: modelData.bytes
            tokens: modelData.tokens
            sentence: ""
            onClicked: root.shown(modelData.name, modelData.text)
        }
    }
}
