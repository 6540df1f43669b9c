// Shows a tip beside a control.
import QtQuick
import QtQuick.Controls
import Spillway.Ui.Theme

ToolTip {
    id: root

    objectName: "tip"
    delay: 500
    padding: Theme.gapSmall
    font.pixelSize: Theme.sizeSmall

    contentItem: Text {
        text: root.text
        font: root.font
        color: Theme.ground
        textFormat: Text.PlainText
        wrapMode: Text.Wrap
    }
    background: Rectangle {
        color: Theme.text
        radius: Theme.radiusSmall
    }
}
