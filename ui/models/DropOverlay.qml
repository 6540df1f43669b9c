// Takes what is dropped anywhere on the window: a model is opened, other files are attached to the message.
import QtQuick
import Spillway.App
import Spillway.Ui.Theme

DropArea {
    id: root

    required property ModelController models
    required property AttachmentModel attachments

    property bool model: false // a model is dragged over the window

    signal attached

    function isModel(urls: var): bool {
        return urls.length > 0 && urls.every(url => url.toString().toLowerCase().endsWith(".gguf"));
    }
    // Accepts copies only. Files are read in their place, and after a move, which file managers propose, they would be
    // deleted from there.
    function copyOnly(drag: var) {
        if (drag.hasUrls && (drag.supportedActions & Qt.CopyAction))
            drag.accept(Qt.CopyAction);
        else
            drag.accepted = false;
    }

    keys: ["text/uri-list"]
    onEntered: drag => {
        root.copyOnly(drag);
        root.model = root.isModel(drag.urls);
    }
    onPositionChanged: drag => root.copyOnly(drag)
    onDropped: drop => {
        root.copyOnly(drop);
        if (!drop.accepted)
            return;
        if (root.isModel(drop.urls)) {
            root.models.openDropped(drop.urls);
        } else {
            root.attachments.add(drop.urls);
            root.attached();
        }
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
            text: root.model ? qsTr("Drop the model to open it") : qsTr("Drop the files to attach them")
            textFormat: Text.PlainText
            font.pixelSize: Theme.sizeTitle
            font.weight: Font.Medium
            color: Theme.accent
        }
    }
}
