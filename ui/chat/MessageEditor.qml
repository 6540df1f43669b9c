// Lets a message be edited where it stands, with the files that go with it. Enter sends a question again (Shift+Enter
// breaks the line), Ctrl+Enter keeps an answer, Esc leaves it as it was.
import QtQuick
import QtQuick.Controls
import QtQuick.Layouts
import Spillway.App
import Spillway.Ui.Attachments
import Spillway.Ui.Components
import Spillway.Ui.Theme

FocusScope {
    id: root

    required property bool mine
    required property MessageEditing editing
    required property ChatClipboard clipboard
    required property int longest // characters that can be kept
    required property string obstacle // why it cannot be sent or kept now

    property bool pasteRefused: false // the text that was pasted was too long

    readonly property bool tooLong: field.length > longest
    readonly property bool acceptable: obstacle === "" && !tooLong && (field.text.trim() !== "" || editing.attachments.length > 0)

    // Why the text cannot be kept or sent; empty: it can.
    readonly property string refusal: obstacle !== "" ? obstacle
        : tooLong ? qsTr("A text of this length cannot be kept. Make it shorter.")
        : pasteRefused ? qsTr("What was copied is too long to be edited here. Attach it to a message as a file.") : ""

    signal accepted(string text)
    signal attachmentShown(string name, string text, int characters)

    function accept() {
        if (acceptable)
            accepted(field.text);
    }
    // Puts a file's text in front of the written text, in the form that the model reads.
    function takeIn(file: var) {
        const before = field.text;
        const text = file.editText.endsWith("\n") || field.length === 0 ? file.editText : file.editText + "\n\n";
        field.insert(0, text);
        field.cursorPosition = text.length;
        field.forceActiveFocus(Qt.OtherFocusReason);
        editing.takeIn(file, before);
    }
    function dropFile(file: var) {
        field.forceActiveFocus(Qt.OtherFocusReason);
        editing.drop(file.id);
    }

    objectName: "messageEditor"
    implicitHeight: column.implicitHeight
    Component.onCompleted: field.forceActiveFocus(Qt.OtherFocusReason)

    ColumnLayout {
        id: column

        width: parent.width
        spacing: Theme.gapSmall

        Rectangle {
            Layout.fillWidth: true
            implicitHeight: scroll.y + scroll.height + Theme.gapSmall
            radius: Theme.radiusLarge
            color: Theme.raised
            border.width: 1
            border.color: field.activeFocus ? Theme.accent : Theme.borderStrong

            AttachmentChips {
                id: files

                objectName: "editedAttachments"
                x: Theme.gapSmall
                y: Theme.gapSmall
                width: parent.width - 2 * x
                widest: width
                editable: true
                attachments: root.editing.attachments
                onShown: (name, text, characters) => root.attachmentShown(name, text, characters)
                onRemoveRequested: file => root.dropFile(file)
                onTakeInRequested: file => root.takeIn(file)
            }
            ScrollView {
                id: scroll

                x: Theme.gapSmall
                y: Theme.gapSmall + (files.visible ? files.height + Theme.gapTiny : 0)
                width: parent.width - 2 * x
                height: Math.min(field.implicitHeight, Theme.px(320))
                ScrollBar.horizontal.policy: ScrollBar.AlwaysOff

                TextArea {
                    id: field

                    objectName: "editField"
                    focus: true
                    textFormat: TextEdit.PlainText
                    wrapMode: TextEdit.Wrap
                    selectByMouse: true
                    padding: Theme.gapSmall
                    font.pixelSize: Theme.sizeBody
                    color: Theme.text
                    selectionColor: Theme.selection
                    selectedTextColor: Theme.text
                    background: null
                    onTextChanged: {
                        root.pasteRefused = false;
                        root.editing.follow(text, canRedo);
                    }
                    Component.onCompleted: {
                        text = root.editing.text;
                        cursorPosition = length;
                    }

                    Accessible.role: Accessible.EditableText
                    Accessible.name: root.mine ? qsTr("Your message") : qsTr("The model's answer")
                    Accessible.multiLine: true

                    Keys.onShortcutOverride: event => event.accepted = event.key === Qt.Key_Escape
                    Keys.onEscapePressed: root.editing.end()
                    Keys.onTabPressed: nextItemInFocusChain(true).forceActiveFocus(Qt.TabFocusReason)
                    Keys.onBacktabPressed: nextItemInFocusChain(false).forceActiveFocus(Qt.BacktabFocusReason)
                    Keys.onPressed: event => {
                        if (event.matches(StandardKey.Paste) && !root.clipboard.fitsTheField()) {
                            event.accepted = true;
                            root.pasteRefused = true;
                            return;
                        }
                        const enter = event.key === Qt.Key_Return || event.key === Qt.Key_Enter;
                        const accepts = root.mine ? !(event.modifiers & Qt.ShiftModifier) : event.modifiers & Qt.ControlModifier;
                        if (!enter || !accepts || inputMethodComposing)
                            return;
                        event.accepted = true;
                        root.accept();
                    }

                    // Keeps text that is too long to be pasted away from the field.
                    MouseArea {
                        anchors.fill: parent
                        acceptedButtons: Qt.MiddleButton
                        onPressed: mouse => {
                            mouse.accepted = root.pasteRefused = !root.clipboard.selectionFitsTheField();
                        }
                    }
                }
            }
        }
        RowLayout {
            spacing: Theme.gapSmall

            Text {
                Layout.fillWidth: true
                objectName: "editNote"
                text: root.refusal !== "" ? root.refusal
                    : root.mine ? qsTr("What followed stays, as another version.") : qsTr("What the model said stays, as another version.")
                textFormat: Text.PlainText
                wrapMode: Text.Wrap
                font.pixelSize: Theme.sizeSmall
                color: root.refusal !== "" ? Theme.warning : Theme.textMuted
            }
            ActionButton {
                objectName: "editCancel"
                text: qsTr("Cancel")
                onClicked: root.editing.end()
            }
            ActionButton {
                objectName: "editAccept"
                primary: true
                enabled: root.acceptable
                text: root.mine ? qsTr("Send") : qsTr("Keep")
                onClicked: root.accept()
            }
        }
    }
}
