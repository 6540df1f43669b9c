// Shows what the model reads of a file.
import QtQuick
import QtQuick.Controls
import QtQuick.Layouts
import Spillway.Ui.Components
import Spillway.Ui.Theme

Popup {
    id: root

    property string name: ""
    property string content: ""

    property int characters: 0 // of all that the model reads

    readonly property int most: 200000 // characters: AttachmentFacts gives no more

    function show(fileName: string, text: string, count: int) {
        name = fileName;
        content = text;
        characters = count;
        open();
    }

    anchors.centerIn: Overlay.overlay
    width: Math.min(Theme.px(760), (Overlay.overlay?.width ?? 0) - 2 * Theme.gapLarge)
    height: Math.min(Theme.px(620), (Overlay.overlay?.height ?? 0) - 2 * Theme.gapLarge)
    padding: Theme.gapLarge
    modal: true
    focus: true
    onOpened: area.forceActiveFocus(Qt.PopupFocusReason)
    onClosed: content = ""

    background: Rectangle {
        color: Theme.raised
        radius: Theme.radiusLarge
        border.width: 1
        border.color: Theme.border
    }
    Overlay.modal: Rectangle {
        color: Qt.rgba(0, 0, 0, Theme.dark ? 0.5 : 0.25)
    }

    ColumnLayout {
        anchors.fill: parent
        spacing: Theme.gapSmall

        Accessible.role: Accessible.Dialog
        Accessible.name: root.name

        RowLayout {
            spacing: Theme.gapSmall

            Text {
                objectName: "attachmentTitle"
                Layout.fillWidth: true
                text: root.name
                textFormat: Text.PlainText
                elide: Text.ElideMiddle
                font.pixelSize: Theme.sizeTitle
                font.weight: Font.DemiBold
                color: Theme.text
            }
            IconButton {
                objectName: "attachmentClose"
                name: qsTr("Close")
                shortcutText: qsTr("Esc")
                source: "qrc:/icons/close.svg"
                onClicked: root.close()
            }
        }
        Text {
            Layout.fillWidth: true
            text: root.characters > root.most
                  ? qsTr("The beginning of what the model reads; all of it has %1 characters.").arg(Format.count(root.characters))
                  : qsTr("What the model reads of this file.")
            textFormat: Text.PlainText
            wrapMode: Text.Wrap
            font.pixelSize: Theme.sizeSmall
            color: Theme.textMuted
        }
        Rectangle {
            Layout.fillWidth: true
            Layout.fillHeight: true
            radius: Theme.radius
            color: Theme.sunken

            ScrollView {
                anchors.fill: parent
                anchors.margins: Theme.gapTiny

                TextArea {
                    id: area

                    objectName: "attachmentText"
                    text: root.content
                    textFormat: TextEdit.PlainText
                    readOnly: true
                    selectByMouse: true
                    wrapMode: TextEdit.Wrap
                    padding: Theme.gapSmall
                    font.family: Theme.monospace
                    font.pixelSize: Theme.sizeSmall
                    color: Theme.text
                    selectionColor: Theme.selection
                    selectedTextColor: Theme.text
                    background: null

                    Accessible.role: Accessible.EditableText
                    Accessible.name: qsTr("Text of %1").arg(root.name)
                    Accessible.readOnly: true
                    Accessible.multiLine: true
                }
            }
        }
    }
}
