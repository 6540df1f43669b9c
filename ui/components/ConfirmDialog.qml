// Asks before something that cannot be undone.
import QtQuick
import QtQuick.Controls
import QtQuick.Layouts
import Spillway.Ui.Theme

Popup {
    id: root

    property string question: ""
    property string detail: ""
    property string confirmText: ""
    property string dismissText: qsTr("Cancel")
    property bool careful: false // Enter alone must not confirm it
    property bool destructive: false

    // The buttons stay in sight, however long the detail is.
    readonly property real most: (Overlay.overlay ? Overlay.overlay.height : 0) - 2 * padding - 2 * Theme.gapLarge - 3 * Theme.gapSmall

    signal confirmed

    anchors.centerIn: Overlay.overlay
    width: Math.min(Theme.px(420), (Overlay.overlay ? Overlay.overlay.width : Theme.px(420)) - 2 * Theme.gapLarge)
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
            id: heading

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
            Layout.maximumHeight: Math.max(Theme.px(48), root.most - heading.implicitHeight - buttons.implicitHeight)
            text: root.detail
            textFormat: Text.PlainText
            wrapMode: Text.Wrap
            elide: Text.ElideRight
            font.pixelSize: Theme.sizeBody
            lineHeight: Theme.lineHeight
            color: Theme.textMuted
        }
        RowLayout {
            id: buttons

            Layout.topMargin: Theme.gapSmall
            Layout.alignment: Qt.AlignRight
            spacing: Theme.gapSmall

            ActionButton {
                id: cancel

                objectName: "confirmCancel"
                text: root.dismissText
                onClicked: root.close()
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
            }
        }
    }
}
