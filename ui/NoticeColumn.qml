// Shows notices above the page: those of the program itself, and those of the model while its page is not shown.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Layouts
import Spillway.App
import Spillway.Ui.Chat
import Spillway.Ui.Components
import Spillway.Ui.Theme

Item {
    id: root

    required property ProgramController program
    required property ModelController models
    required property ChatController chat
    required property bool away // another page than the conversation's is shown

    signal newRequested

    height: column.implicitHeight > 0 ? column.implicitHeight + Theme.gap : 0

    ColumnLayout {
        id: column

        y: Theme.gapSmall
        width: Math.min(Theme.columnWidth, root.width - 2 * Theme.gapLarge)
        anchors.horizontalCenter: parent.horizontalCenter
        spacing: Theme.gapSmall

        LayoutRepeater {
            model: root.program.notices
            delegate: Notice {
                required property int index
                required property string modelData

                objectName: "programNotice"
                Layout.fillWidth: true
                kind: Notice.Warning
                sentence: modelData
                onDismissRequested: root.program.dismissNotice(index)
            }
        }
        ModelError {
            objectName: "modelErrorAbove"
            Layout.fillWidth: true
            visible: wanted && root.away
            models: root.models
        }
        // Shown while the answer runs: after that the notice on the conversation's page is enough.
        ContextNotice {
            objectName: "contextNoticeAbove"
            Layout.fillWidth: true
            visible: wanted && root.away && root.chat.turn.busy
            chat: root.chat
            onNewRequested: root.newRequested()
        }
    }
}
