// Shows one work of others: its purpose in the program, and its licence, which can be read.
import QtQuick
import QtQuick.Controls
import QtQuick.Layouts
import Spillway.Ui.Components
import Spillway.Ui.Theme

AbstractButton {
    id: root

    required property int index
    required property string name
    required property string purpose
    required property string licence

    Layout.fillWidth: true
    implicitHeight: implicitContentHeight + Theme.gap
    leftPadding: Theme.gapSmall
    rightPadding: Theme.gapSmall
    hoverEnabled: true

    Accessible.role: Accessible.Button
    Accessible.name: qsTr("%1, %2: licence %3").arg(root.name).arg(root.purpose).arg(root.licence)
    Accessible.onPressAction: root.clicked()
    Keys.onReturnPressed: event => {
        if (!event.isAutoRepeat)
            clicked();
    }
    Keys.onEnterPressed: event => {
        if (!event.isAutoRepeat)
            clicked();
    }

    contentItem: RowLayout {
        spacing: Theme.gap

        Text {
            Layout.fillWidth: true
            text: root.name + "  ·  " + root.purpose
            textFormat: Text.PlainText
            wrapMode: Text.Wrap
            font.pixelSize: Theme.sizeBody
            color: Theme.text
            Accessible.ignored: true
        }
        Text {
            Layout.maximumWidth: root.width * 0.45
            text: root.licence
            textFormat: Text.PlainText
            wrapMode: Text.Wrap
            horizontalAlignment: Text.AlignRight
            font.pixelSize: Theme.sizeSmall
            color: Theme.accent
            Accessible.ignored: true
        }
    }
    background: Rectangle {
        radius: Theme.radiusSmall
        color: root.hovered || root.down ? Theme.hover : "transparent"

        FocusRing { visible: root.visualFocus; gap: -2 }
    }
}
