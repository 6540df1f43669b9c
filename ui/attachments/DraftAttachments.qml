// The files that will go with the message that is being written.
pragma ComponentBehavior: Bound

import QtQuick
import Spillway.App
import Spillway.Ui.Theme

Flow {
    id: root

    required property AttachmentModel attachments

    signal shown(string name, string text, int characters)
    signal emptied // the last one was removed: the keyboard has to go somewhere

    spacing: Theme.gapSmall
    visible: attachments.count > 0

    Accessible.role: Accessible.List
    Accessible.name: qsTr("Files to send")

    Repeater {
        model: root.attachments
        delegate: AttachmentChip {
            required property int index
            required property int fileState
            required property bool counting

            objectName: "draftChip" + index
            widest: fileState === AttachmentModel.Failed ? root.width : Math.min(Theme.px(300), root.width)
            busy: counting || fileState === AttachmentModel.Reading
            removable: true
            onClicked: {
                const file = root.attachments.facts(index);
                if (fileState === AttachmentModel.Ready)
                    root.shown(file.name, file.text, file.characters);
            }
            onRemoveRequested: {
                const last = root.attachments.count === 1;
                root.attachments.remove(index);
                if (last)
                    root.emptied();
            }
        }
    }
}
