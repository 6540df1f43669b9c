// Tells a screen reader how an answer has ended. Nothing of it is seen.
import QtQuick
import Spillway.App

Item {
    id: root

    required property ChatController chat

    // What has this role is read aloud when it becomes visible.
    Accessible.role: Accessible.Notification
    Accessible.name: root.chat.turn.ending

    objectName: "answerNews"
    width: 1
    height: 1
    visible: root.chat.turn.ending !== ""
}
