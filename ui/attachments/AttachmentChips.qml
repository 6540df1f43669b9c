// Shows the files of a message that was sent, or is edited. `attachments` is its list of attachmentFacts.
pragma ComponentBehavior: Bound

import QtQuick
import Spillway.Ui.Theme

Flow {
    id: root

    required property var attachments
    required property int widest
    property bool editable: false // each may be removed, or its text put into the message

    property real natural: 0 // the width of all of them in one row

    signal shown(string name, string text, int characters)
    signal removeRequested(var file)
    signal takeInRequested(var file)

    function measure() {
        let width = 0;
        for (let i = 0; i < chips.count; ++i)
            width += (chips.itemAt(i)?.implicitWidth ?? 0) + (i > 0 ? spacing : 0);
        natural = Math.ceil(width);
    }

    spacing: Theme.gapSmall
    visible: attachments.length > 0

    Accessible.role: Accessible.List
    Accessible.name: qsTr("Attached files")

    Repeater {
        id: chips

        model: root.attachments
        onItemAdded: root.measure()
        onItemRemoved: root.measure()
        delegate: AttachmentChip {
            required property var modelData

            objectName: "sentChip"
            widest: Math.min(Theme.px(300), root.widest)
            onImplicitWidthChanged: root.measure()
            name: modelData.name
            bytes: modelData.bytes
            tokens: modelData.tokens
            sentence: ""
            removable: root.editable
            takesIn: root.editable && modelData.editable
            onRemoveRequested: root.removeRequested(modelData)
            onTakeInRequested: root.takeInRequested(modelData)
            onClicked: root.shown(modelData.name, modelData.text, modelData.characters)
        }
    }
}
