// Shows a quiet note about the panel's contents, with a button for what can be done.
import QtQuick
import QtQuick.Layouts
import Spillway.Ui.Components
import Spillway.Ui.Theme

RowLayout {
    id: root

    required property string sentence
    property string actionText: ""

    signal actionRequested

    spacing: Theme.gapSmall

    Rectangle {
        Layout.fillHeight: true
        implicitWidth: Theme.px(3)
        radius: 1
        color: Theme.borderStrong
    }
    Text {
        Layout.fillWidth: true
        text: root.sentence
        textFormat: Text.PlainText
        wrapMode: Text.Wrap
        font.pixelSize: Theme.sizeSmall
        color: Theme.textMuted
        Accessible.role: Accessible.Note
        Accessible.name: text
    }
    ActionButton {
        objectName: "noteAction"
        visible: root.actionText !== ""
        implicitHeight: Theme.px(32)
        font.pixelSize: Theme.sizeSmall
        text: root.actionText
        onClicked: root.actionRequested()
    }
}
