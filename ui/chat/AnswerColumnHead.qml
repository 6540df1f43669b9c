// Shows above an answer that stands beside others which one it is, what made it, and the button that stops or copies
// it.
import QtQuick
import Spillway.App
import Spillway.Ui.Components
import Spillway.Ui.Theme

Item {
    id: root

    required property ChatController chat
    required property var message // the column, with the roles of MessageModel
    required property bool shown
    required property bool live

    component Action: IconButton {
        anchors.right: parent?.right
        size: Theme.px(30)
        pictureSize: Theme.px(17)
    }

    implicitHeight: Theme.px(30)

    Picture {
        id: mark

        anchors.verticalCenter: parent.verticalCenter
        visible: root.shown
        source: "qrc:/icons/check.svg"
        size: Theme.px(16)
        ink: Theme.accent
    }
    Text {
        id: title

        anchors.verticalCenter: parent.verticalCenter
        x: root.shown ? mark.width + Theme.gapTiny : 0
        text: qsTr("Version %1").arg(Format.count(root.message.version))
        textFormat: Text.PlainText
        font.pixelSize: Theme.sizeSmall
        font.weight: Font.DemiBold
        color: root.shown ? Theme.accent : Theme.text
        Accessible.ignored: true
    }
    Text {
        objectName: "columnModel"
        anchors.verticalCenter: parent.verticalCenter
        anchors.left: title.right
        anchors.leftMargin: Theme.gapSmall
        anchors.right: parent.right
        anchors.rightMargin: Theme.px(34) // leaves room for the button
        text: root.message.modelName
        textFormat: Text.PlainText
        elide: Text.ElideMiddle
        font.pixelSize: Theme.sizeSmall
        color: Theme.textMuted
        Accessible.role: Accessible.StaticText
        Accessible.name: qsTr("Answered by %1").arg(text)
    }
    Action {
        objectName: "stopVersion"
        visible: root.live && root.message.status !== MessageModel.Queued
        name: qsTr("Stop this version")
        source: "qrc:/icons/stop.svg"
        onClicked: root.chat.turn.stopVersion(root.message.messageId)
    }
    Action {
        objectName: "copyVersion"
        visible: !root.live && root.message.beginning !== ""
        name: done.running ? qsTr("Copied") : qsTr("Copy this version")
        source: done.running ? "qrc:/icons/check.svg" : "qrc:/icons/copy.svg"
        onClicked: {
            root.chat.clipboard.copyMessage(root.message.messageId);
            done.restart();
        }

        Timer {
            id: done
            interval: 1500
        }
    }
}
