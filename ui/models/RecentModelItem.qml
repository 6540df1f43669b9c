// Shows a line of the menu of models: a name, the file, and whether it is open or missing.
import QtQuick
import QtQuick.Controls
import QtQuick.Layouts
import Spillway.App
import Spillway.Ui.Components
import Spillway.Ui.Theme

MenuItem {
    id: root

    required property recentModel recent
    readonly property string state: recent.isOpen ? qsTr("open") : recent.there ? "" : qsTr("missing")

    implicitHeight: Theme.px(50)
    leftPadding: Theme.gapSmall
    rightPadding: Theme.gapSmall
    text: recent.title
    opacity: enabled ? 1 : 0.6

    Accessible.role: Accessible.MenuItem
    Accessible.name: state === "" ? Format.filled(qsTr("%1, %2"), [recent.title, recent.file])
                                  : Format.filled(qsTr("%1, %2, %3"), [recent.title, recent.file, state])
    Accessible.onPressAction: root.triggered()

    contentItem: RowLayout {
        spacing: Theme.gapSmall

        Picture {
            source: root.recent.isOpen ? "qrc:/icons/check.svg" : !root.recent.there ? "qrc:/icons/warning.svg"
                  : root.recent.elsewhere ? "qrc:/icons/server.svg" : "qrc:/icons/models.svg"
            size: Theme.px(17)
            ink: root.recent.isOpen ? Theme.accent : root.recent.there ? Theme.textMuted : Theme.warning
        }
        ColumnLayout {
            Layout.fillWidth: true
            spacing: 1

            Text {
                Layout.fillWidth: true
                text: root.text
                textFormat: Text.PlainText
                elide: Text.ElideRight
                font.pixelSize: Theme.sizeBody
                color: Theme.text
                Accessible.ignored: true
            }
            Text {
                objectName: "recentFile"
                Layout.fillWidth: true
                text: root.recent.file
                textFormat: Text.PlainText
                elide: Text.ElideMiddle
                font.pixelSize: Theme.sizeSmall
                color: Theme.textMuted
                Accessible.ignored: true
            }
        }
        Text {
            visible: text !== ""
            text: root.state
            textFormat: Text.PlainText
            font.pixelSize: Theme.sizeSmall
            color: root.recent.there ? Theme.accent : Theme.warning
            Accessible.ignored: true
        }
    }
    background: Rectangle {
        radius: Theme.radiusSmall - Theme.gapTiny
        color: root.highlighted ? Theme.hover : "transparent"
    }
}
