// Names the program in whose folder a model lies.
import QtQuick
import Spillway.Ui.Theme

Rectangle {
    id: root

    required property string name

    implicitWidth: label.implicitWidth + Theme.px(12)
    implicitHeight: label.implicitHeight + Theme.px(4)
    radius: height / 2
    color: Theme.sunken

    Accessible.ignored: true

    Text {
        id: label

        anchors.centerIn: parent
        text: root.name
        textFormat: Text.PlainText
        font.pixelSize: Theme.px(12)
        color: Theme.textMuted
        Accessible.ignored: true
    }
}
