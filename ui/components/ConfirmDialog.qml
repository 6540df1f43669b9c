// Asks before something that cannot be taken back.
import QtQuick
import QtQuick.Controls
import QtQuick.Layouts
import Spillway.Ui.Theme

Popup {
    id: root

    property string question: ""
    property string detail: ""
    property string confirmText: ""
    property bool careful: false // Enter alone must not confirm it
    property bool destructive: false

    signal confirmed

    anchors.centerIn: Overlay.overlay
    width: 420
    padding: Theme.gapLarge
    modal: true
    focus: true
    onOpened: (root.careful ? cancel : confirm).forceActiveFocus(Qt.PopupFocusReason)

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
        Accessible.name: root.question

        Text {
            Layout.fillWidth: true
            text: root.question
            textFormat: Text.PlainText
            wrapMode: Text.Wrap
            font.pixelSize: Theme.sizeTitle
            font.weight: Font.DemiBold
            color: Theme.text
        }
        Text {
            Layout.fillWidth: true
            text: root.detail
            textFormat: Text.PlainText
            wrapMode: Text.Wrap
            font.pixelSize: Theme.sizeBody
            lineHeight: Theme.lineHeight
            color: Theme.textMuted
        }
        RowLayout {
            Layout.topMargin: Theme.gapSmall
            Layout.alignment: Qt.AlignRight
            spacing: Theme.gapSmall

            ActionButton {
                id: cancel

                objectName: "confirmCancel"
                text: qsTr("Cancel")
                onClicked: root.close()
                Keys.onReturnPressed: clicked()
            }
            ActionButton {
                id: confirm

                objectName: "confirmAccept"
                primary: !root.destructive
                destructive: root.destructive
                text: root.confirmText
                onClicked: {
                    root.close();
                    root.confirmed();
                }
                Keys.onReturnPressed: clicked()
            }
        }
    }
}
