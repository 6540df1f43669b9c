// Lets the user write a message: its text, the files that go with it, and what both cost. Enter sends, Shift+Enter
// breaks the line; a message that cannot be sent now stays in the field, with the reason. The unsent message is the
// conversation's draft.
import QtQuick
import QtQuick.Controls
import Spillway.App
import Spillway.Ui.Attachments
import Spillway.Ui.Components
import Spillway.Ui.Theme

FocusScope {
    id: root

    required property ChatController chat
    required property ComposerController composer
    required property SettingsController settings
    required property string modelName
    property int tallest: Theme.px(200) // of the text

    readonly property bool wanted: field.text.trim() !== "" || composer.attachments.sendable // there is something to send

    readonly property bool popupOpen: attachmentText.visible

    signal editLastRequested
    signal removeRequested
    signal undoRequested

    // Returns the text that invites to write. A model without a chat template reads each message alone.
    function wantedHere(): string {
        if (chat.continuesText)
            return chat.messages.count > 0 ? qsTr("A new text; what is above is not read") : qsTr("The beginning of a text");
        return modelName !== "" ? qsTr("Message %1").arg(modelName) : qsTr("Write a message");
    }

    function takeFocus() {
        field.forceActiveFocus(Qt.OtherFocusReason);
    }

    // Makes Del delete the conversation that was chosen just now.
    function meanRow() {
        field.rowMeant = field.activeFocus;
    }

    function type(text: string) {
        takeFocus();
        field.insert(field.cursorPosition, text);
    }

    function send() {
        if (!root.wanted)
            return;
        if (root.composer.send(field.text))
            field.text = ""; // not clear(): Ctrl+Z must not bring back what was sent
        else
            notes.refused = true;
    }

    function ask(question: string) {
        field.text = question;
        send();
    }

    function attach() {
        takeFocus(); // takes it from the control that had it before the dialog
        attachDialog.begin();
    }

    implicitHeight: box.height + (notes.implicitHeight > 0 ? notes.implicitHeight + Theme.gapTiny : 0)

    AttachDialog {
        id: attachDialog

        objectName: "attachDialog"
        attachments: root.composer.attachments
        settings: root.settings
    }
    AttachmentText {
        id: attachmentText

        objectName: "draftAttachmentText"
        onClosed: root.takeFocus()
    }

    Connections {
        target: root.chat

        function onOpened() {
            notes.refused = false;
            field.text = root.chat.draft;
            field.cursorPosition = field.length;
            field.rowMeant = false; // the row was the conversation's before; needed also where both drafts are empty
        }
    }

    Rectangle {
        id: box

        readonly property int lowest: Theme.px(56)

        width: parent.width
        height: files.height + Math.max(lowest, Math.min(field.implicitHeight, root.tallest) + 2 * Theme.gapSmall)
        radius: Theme.radiusLarge
        color: Theme.raised
        border.width: 1
        border.color: field.activeFocus ? Theme.accent : Theme.borderStrong

        MouseArea {
            anchors.fill: parent
            cursorShape: Qt.IBeamCursor
            onPressed: root.takeFocus()
        }

        // Many files scroll, so that the text keeps its place.
        Flickable {
            id: files

            x: Theme.gapSmall + 2
            y: Theme.gapSmall + 2
            width: parent.width - 2 * x
            height: draftFiles.visible ? Math.min(draftFiles.height, Theme.px(160)) + Theme.gapSmall : 0
            contentHeight: draftFiles.height
            clip: height < contentHeight
            boundsBehavior: Flickable.StopAtBounds
            ScrollBar.vertical: ThinScrollBar {}

            DraftAttachments {
                id: draftFiles

                objectName: "draftAttachments"
                width: parent.width
                attachments: root.composer.attachments
                onShown: (name, text, characters) => attachmentText.show(name, text, characters)
                onEmptied: root.takeFocus()
            }
        }

        IconButton {
            id: attachButton

            objectName: "attachButton"
            anchors.left: parent.left
            anchors.bottom: parent.bottom
            anchors.margins: (box.lowest - height) / 2
            size: Theme.px(40)
            name: qsTr("Attach files")
            source: "qrc:/icons/attach.svg"
            onClicked: root.attach()
        }

        ScrollView {
            anchors.left: attachButton.right
            anchors.right: button.left
            anchors.rightMargin: Theme.gapTiny
            anchors.bottom: parent.bottom
            anchors.bottomMargin: Math.max(Theme.gapSmall, (box.lowest - height) / 2)
            height: Math.min(field.implicitHeight, root.tallest)
            ScrollBar.horizontal.policy: ScrollBar.AlwaysOff

            ComposerField {
                id: field

                objectName: "composerField"
                focus: true
                placeholderText: root.wantedHere()
                onTextChanged: root.chat.draft = text
                Component.onCompleted: text = root.chat.draft
                onSendRequested: root.send()
                onEditLastRequested: root.editLastRequested()
                onRemoveRequested: root.removeRequested()
                onUndoRequested: root.undoRequested()
                onPasteRequested: {
                    if (!root.composer.paste())
                        paste();
                }

                // Keeps text that is too long to be pasted away from the field.
                MouseArea {
                    anchors.fill: parent
                    acceptedButtons: Qt.MiddleButton
                    onPressed: mouse => {
                        mouse.accepted = root.composer.pasteSelection();
                        if (mouse.accepted)
                            root.takeFocus();
                    }
                }
            }
        }

        IconButton {
            id: button

            readonly property bool stops: root.chat.turn.busy

            objectName: "sendButton"
            anchors.right: parent.right
            anchors.bottom: parent.bottom
            anchors.margins: (box.lowest - height) / 2
            size: Theme.px(40)
            filled: true
            enabled: stops ? root.chat.turn.state !== ChatTurn.Stopping : root.composer.obstacle === "" && root.wanted
            name: stops ? qsTr("Stop") : qsTr("Send")
            shortcutText: stops ? qsTr("Esc") : qsTr("Enter")
            source: stops ? "qrc:/icons/stop.svg" : "qrc:/icons/send.svg"
            onClicked: stops ? root.chat.turn.stop() : root.send()
        }
    }

    ComposerNotes {
        id: notes

        anchors.top: box.bottom
        anchors.topMargin: Theme.gapTiny
        width: parent.width
        composer: root.composer
        savedNote: root.chat.turn.savedNote
        onInsertRequested: text => root.type(text)
    }
}
