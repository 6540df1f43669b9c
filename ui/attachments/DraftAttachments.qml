// Shows the files that will go with the message that is being written. Where several of them cannot be sent, a line
// says how many, and lists the reasons when it is unfolded.
pragma ComponentBehavior: Bound

import QtQuick
import Spillway.App
import Spillway.Ui.Components
import Spillway.Ui.Theme

Flow {
    id: root

    required property AttachmentModel attachments

    signal shown(string name, string text, int characters)
    signal emptied // the last one was removed: the keyboard has to go somewhere

    readonly property bool folds: attachments.failed > 1
    property bool unfolded: false // each error is shown

    spacing: Theme.gapSmall
    visible: attachments.count > 0

    Accessible.role: Accessible.List
    Accessible.name: qsTr("Files to send")

    Flow {
        objectName: "failedFiles"
        width: Math.min(root.width, Math.ceil(said.implicitWidth) + unfold.implicitWidth + dismiss.implicitWidth + 2 * spacing)
        spacing: Theme.gapSmall
        visible: root.folds

        Text {
            id: said

            width: Math.min(implicitWidth, root.width)
            height: Math.max(implicitHeight, unfold.height)
            verticalAlignment: Text.AlignVCenter
            wrapMode: Text.Wrap
            text: qsTr("%1 files cannot be attached.").arg(Format.count(root.attachments.failed))
            textFormat: Text.PlainText
            font.pixelSize: Theme.sizeSmall
            color: Theme.danger

            Accessible.role: Accessible.AlertMessage
            Accessible.name: text
        }
        ActionButton {
            id: unfold

            objectName: "unfoldFailed"
            text: root.unfolded ? qsTr("Hide why") : qsTr("Show why")
            onClicked: root.unfolded = !root.unfolded
        }
        ActionButton {
            id: dismiss

            objectName: "dismissFailed"
            text: qsTr("Dismiss")
            onClicked: {
                const all = root.attachments.failed === root.attachments.count;
                root.attachments.removeFailed();
                root.unfolded = false;
                if (all)
                    root.emptied();
            }
        }
    }
    Repeater {
        model: root.attachments
        delegate: AttachmentChip {
            required property int index
            required property int fileState
            required property bool counting

            objectName: "draftChip" + index
            visible: fileState !== AttachmentModel.Failed || !root.folds || root.unfolded
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
