// Shows one setting: its name, a sentence on it, its effect now, the control, and a button that restores the default.
import QtQuick
import QtQuick.Layouts
import Spillway.App
import Spillway.Ui.Components
import Spillway.Ui.Theme

Item {
    id: root

    required property string title
    required property string explanation
    property Setting setting: null
    property string effective: "" // its effect now, for example the language that "system" means
    default property alias control: slot.data

    readonly property bool stacked: width < Theme.px(560) // the control is below the words
    readonly property string note: setting && setting.overridden ? qsTr("Set on the command line for this run") : effective

    Layout.fillWidth: true
    implicitHeight: grid.implicitHeight + 2 * Theme.px(10)

    GridLayout {
        id: grid

        anchors.left: parent.left
        anchors.right: parent.right
        anchors.verticalCenter: parent.verticalCenter
        columns: root.stacked ? 1 : 2
        columnSpacing: Theme.gapLarge
        rowSpacing: Theme.gapSmall

        ColumnLayout {
            Layout.fillWidth: true
            spacing: 2

            Text {
                Layout.fillWidth: true
                text: root.title
                textFormat: Text.PlainText
                wrapMode: Text.Wrap
                font.pixelSize: Theme.sizeBody
                font.weight: Font.Medium
                color: Theme.text
            }
            Text {
                Layout.fillWidth: true
                text: root.explanation
                textFormat: Text.PlainText
                wrapMode: Text.Wrap
                font.pixelSize: Theme.sizeSmall
                color: Theme.textMuted
            }
            Text {
                objectName: "effective"
                Layout.fillWidth: true
                visible: text !== ""
                text: root.note
                textFormat: Text.PlainText
                wrapMode: Text.Wrap
                font.pixelSize: Theme.sizeSmall
                font.weight: Font.Medium
                color: Theme.accent
            }
        }
        RowLayout {
            layoutDirection: root.stacked ? Qt.RightToLeft : Qt.LeftToRight // the control is at the edge
            spacing: Theme.gapTiny

            IconButton {
                objectName: "reset"
                opacity: enabled ? 1 : 0
                enabled: root.setting !== null && (!root.setting.isInitial || root.setting.overridden)
                name: qsTr("%1: back to the default").arg(root.title)
                source: "qrc:/icons/undo.svg"
                onClicked: root.setting.reset()
            }
            RowLayout {
                id: slot
            }
        }
    }
}
