// Shows the whole text of a licence.
import QtQuick
import QtQuick.Controls
import QtQuick.Layouts
import Spillway.Ui.Components
import Spillway.Ui.Theme

Popup {
    id: root

    property string title: ""
    property string text: ""

    anchors.centerIn: Overlay.overlay
    width: Math.min(Theme.px(720), parent ? parent.width - 2 * Theme.gap : 0)
    height: Math.min(Theme.px(640), parent ? parent.height - 2 * Theme.gap : 0)
    padding: Theme.gapLarge
    modal: true
    focus: true
    onOpened: area.forceActiveFocus(Qt.PopupFocusReason)

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
        spacing: Theme.gap

        Accessible.role: Accessible.Dialog
        Accessible.name: root.title

        RowLayout {
            Layout.fillWidth: true

            Text {
                Layout.fillWidth: true
                text: root.title
                textFormat: Text.PlainText
                elide: Text.ElideRight
                font.pixelSize: Theme.sizeTitle
                font.weight: Font.DemiBold
                color: Theme.text
            }
            IconButton {
                objectName: "closeLicence"
                name: qsTr("Close")
                source: "qrc:/icons/close.svg"
                onClicked: root.close()
            }
        }
        ScrollView {
            id: scroll

            Layout.fillWidth: true
            Layout.fillHeight: true
            ScrollBar.horizontal.policy: ScrollBar.AlwaysOff

            TextArea {
                id: area

                objectName: "licenceText"
                width: scroll.availableWidth
                readOnly: true
                selectByMouse: true
                textFormat: TextEdit.PlainText
                wrapMode: TextEdit.Wrap
                text: root.text
                font.pixelSize: Theme.sizeSmall
                color: Theme.text
                selectionColor: Theme.selection
                selectedTextColor: Theme.text
                background: null

                Accessible.role: Accessible.EditableText
                Accessible.readOnly: true
                Accessible.name: root.title
                Keys.onTabPressed: nextItemInFocusChain(true).forceActiveFocus(Qt.TabFocusReason)
                Keys.onBacktabPressed: nextItemInFocusChain(false).forceActiveFocus(Qt.BacktabFocusReason)
            }
        }
    }
}
