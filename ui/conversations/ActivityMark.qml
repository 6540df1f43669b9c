// Shows what a conversation is doing: a dot that breathes while it is answered, a ring while it waits its turn.
import QtQuick
import Spillway.App
import Spillway.Ui.Theme

Rectangle {
    id: root

    required property int activity

    readonly property bool answering: activity === ConversationActivity.Answering

    implicitWidth: Theme.px(8)
    implicitHeight: implicitWidth
    radius: width / 2
    visible: activity !== ConversationActivity.Idle
    color: answering ? Theme.accent : "transparent"
    border.width: answering ? 0 : 2
    border.color: Theme.textMuted

    Accessible.ignored: true // the row's own name says it

    SequentialAnimation on opacity {
        running: root.visible && root.answering
        loops: Animation.Infinite
        alwaysRunToEnd: true
        NumberAnimation { to: 0.35; duration: 700; easing.type: Easing.InOutSine }
        NumberAnimation { to: 1; duration: 700; easing.type: Easing.InOutSine }
    }
}
