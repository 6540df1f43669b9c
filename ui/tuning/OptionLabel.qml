// Shows the name and meaning of an option, and where it differs from the program's own value a mark and a button that
// resets it.
import QtQuick
import QtQuick.Layouts
import Spillway.Ui.Components
import Spillway.Ui.Theme

ColumnLayout {
    id: root

    required property string label
    required property string explanation
    required property bool changed

    signal resetRequested

    spacing: 0

    RowLayout {
        spacing: Theme.gapTiny

        Text {
            text: root.label
            textFormat: Text.PlainText
            font.pixelSize: Theme.sizeBody
            font.weight: Font.Medium
            color: Theme.text
        }
        Rectangle {
            objectName: "changedMark"
            visible: root.changed
            implicitWidth: Theme.px(7)
            implicitHeight: implicitWidth
            radius: width / 2
            color: Theme.accent

            Accessible.role: Accessible.StaticText
            Accessible.name: qsTr("changed")
        }
        IconButton {
            objectName: "resetButton"
            visible: root.changed
            size: Theme.px(26)
            pictureSize: Theme.px(15)
            name: qsTr("Back to the default of %1").arg(root.label)
            source: "qrc:/icons/undo.svg"
            onClicked: root.resetRequested()
        }
    }
    Text {
        Layout.fillWidth: true
        text: root.explanation
        textFormat: Text.PlainText
        wrapMode: Text.Wrap
        font.pixelSize: Theme.sizeSmall
        color: Theme.textMuted
    }
}
