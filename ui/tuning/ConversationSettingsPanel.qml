// Shows the settings of the conversation over the right side of the window. Every change applies from the next answer
// on.
import QtQuick
import QtQuick.Controls
import QtQuick.Layouts
import Spillway.App
import Spillway.Ui.Components
import Spillway.Ui.Theme

Popup {
    id: root

    required property ConversationSettingsController settings
    property bool continuesText: false // the model has no chat template, so no place for a system prompt

    readonly property int columnWidth: width - leftPadding - rightPadding

    parent: Overlay.overlay
    x: (parent?.width ?? 0) - width
    width: Math.min(Theme.px(420), (parent?.width ?? 0) - Theme.gapHuge)
    height: parent?.height ?? 0
    padding: 0
    leftPadding: Theme.gapLarge
    rightPadding: Theme.gap
    modal: true
    focus: true
    onOpened: closeButton.forceActiveFocus(Qt.PopupFocusReason)

    background: Rectangle {
        color: Theme.ground

        Rectangle {
            width: 1
            height: parent.height
            color: Theme.border
        }
    }
    Overlay.modal: Rectangle {
        color: Qt.rgba(0, 0, 0, Theme.dark ? 0.5 : 0.25)
    }

    ColumnLayout {
        anchors.fill: parent
        spacing: 0

        Accessible.role: Accessible.Dialog
        Accessible.name: title.text

        RowLayout {
            Layout.topMargin: Theme.gapSmall + 4
            Layout.bottomMargin: Theme.gapSmall
            Layout.leftMargin: Theme.gapTiny

            Text {
                id: title

                Layout.fillWidth: true
                text: qsTr("Conversation settings")
                textFormat: Text.PlainText
                elide: Text.ElideRight
                font.pixelSize: Theme.sizeTitle
                font.weight: Font.DemiBold
                color: Theme.text
            }
            IconButton {
                id: closeButton

                objectName: "closeSettings"
                name: qsTr("Close")
                shortcutText: qsTr("Esc")
                source: "qrc:/icons/close.svg"
                onClicked: root.close()
            }
        }
        RevealingView {
            id: flick

            objectName: "settingsView"
            Layout.fillWidth: true
            Layout.fillHeight: true
            contentHeight: column.height

            // Made when the panel is opened, since a hidden layout does not notice that rows were removed.
            Loader {
                id: column

                x: Theme.gapTiny // room for the focus rings, which the view would cut off
                width: flick.width - Theme.gap - Theme.gapTiny
                active: root.visible
                sourceComponent: SettingsColumn {
                    settings: root.settings // qmllint disable unqualified
                    continuesText: root.continuesText // qmllint disable unqualified
                    onResetDone: closeButton.forceActiveFocus(Qt.OtherFocusReason) // qmllint disable unqualified
                }
            }
        }
    }
}
