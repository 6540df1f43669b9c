// Shows all shortcuts on one sheet.
import QtQuick
import QtQuick.Controls
import QtQuick.Layouts
import Spillway.App
import Spillway.Ui.Components
import Spillway.Ui.Theme

Popup {
    id: root

    required property ShortcutModel table

    anchors.centerIn: Overlay.overlay
    width: Math.min(Theme.px(560), parent ? parent.width - 2 * Theme.gap : 0)
    height: Math.min(list.contentHeight + heading.height + 3 * Theme.gapLarge, parent ? parent.height - 2 * Theme.gap : 0)
    padding: Theme.gapLarge
    rightPadding: Theme.gap
    modal: true
    focus: true
    onOpened: list.forceActiveFocus(Qt.PopupFocusReason)

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
        Accessible.name: qsTr("Keyboard shortcuts")

        RowLayout {
            id: heading

            Layout.fillWidth: true

            Text {
                Layout.fillWidth: true
                text: qsTr("Keyboard shortcuts")
                textFormat: Text.PlainText
                font.pixelSize: Theme.sizeTitle
                font.weight: Font.DemiBold
                color: Theme.text
                Accessible.role: Accessible.Heading
                Accessible.name: text
            }
            IconButton {
                objectName: "closeShortcuts"
                name: qsTr("Close")
                source: "qrc:/icons/close.svg"
                onClicked: root.close()
            }
        }
        ListView {
            id: list

            objectName: "shortcutList"
            Layout.fillWidth: true
            Layout.fillHeight: true
            clip: true
            boundsBehavior: Flickable.StopAtBounds
            activeFocusOnTab: true
            model: root.table
            cacheBuffer: 4000 // the list is short: all rows are made, so that its height is known at once
            section.property: "group"
            section.delegate: SectionHeading {
                required property string section

                width: ListView.view.width
                text: section
            }

            Keys.onUpPressed: flick(0, 600)
            Keys.onDownPressed: flick(0, -600)

            Accessible.role: Accessible.List
            Accessible.name: qsTr("Keyboard shortcuts")

            delegate: ShortcutRow {
                width: ListView.view.width - Theme.gap
            }

            ScrollBar.vertical: ThinScrollBar {}
        }
    }
}
