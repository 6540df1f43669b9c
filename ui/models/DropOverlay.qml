// Takes a model file that is dropped anywhere on the window.
import QtQuick
import Spillway.App
import Spillway.Ui.Theme

DropArea {
    id: root

    required property ModelController models

    keys: ["text/uri-list"]
    onEntered: drag => drag.accepted = drag.hasUrls
    onDropped: drop => {
        drop.acceptProposedAction();
        root.models.openDropped(drop.urls);
    }

    Rectangle {
        anchors.fill: parent
        anchors.margins: Theme.gap
        visible: root.containsDrag
        radius: Theme.radiusLarge
        color: Qt.alpha(Theme.raised, 0.94)
        border.width: 2
        border.color: Theme.accent

        Text {
            anchors.centerIn: parent
            text: qsTr("Drop the model to open it")
            textFormat: Text.PlainText
            font.pixelSize: Theme.sizeTitle
            font.weight: Font.Medium
            color: Theme.accent
        }
    }
}
