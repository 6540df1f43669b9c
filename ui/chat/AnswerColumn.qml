// Shows one of the answers that stand side by side: its text as it comes, how it ended, its numbers, and the button
// that chooses it.
import QtQuick
import QtQuick.Layouts
import Spillway.App
import Spillway.Ui.Components
import Spillway.Ui.Theme

Item {
    id: root

    // from the model
    required property int index
    required property string messageId
    required property BlockModel blocks
    required property string beginning
    required property int status
    required property string sentence
    required property int version
    required property int versionCount
    required property string modelName
    required property var promptTokens
    required property var templateTokens
    required property var ownTokens
    required property var ttftMs
    required property var tokensPerSecond
    required property var draftedTokens
    required property var acceptedTokens

    required property ChatController chat

    signal linkRequested(string link)

    readonly property bool live: status === MessageModel.Queued || status === MessageModel.Waiting || status === MessageModel.Streaming
    readonly property bool shown: index === chat.comparison.current // the conversation continues from this answer

    objectName: "answerColumn"
    activeFocusOnTab: true
    Keys.onPressed: event => {
        event.accepted = true;
        switch (event.key) {
        case Qt.Key_Up: body.scroll(-Theme.px(48)); break;
        case Qt.Key_Down: body.scroll(Theme.px(48)); break;
        case Qt.Key_PageUp: body.scroll(-0.9 * body.height); break;
        case Qt.Key_PageDown: body.scroll(0.9 * body.height); break;
        case Qt.Key_Home: body.scroll(-body.contentHeight); break;
        case Qt.Key_End: body.scroll(body.contentHeight); break;
        // Where nothing wide is left to be seen, these lead to the column beside it.
        case Qt.Key_Left: event.accepted = body.scrollSideways(-Theme.px(60)); break;
        case Qt.Key_Right: event.accepted = body.scrollSideways(Theme.px(60)); break;
        default: event.accepted = false;
        }
    }

    Accessible.role: Accessible.ListItem
    Accessible.name: qsTr("Version %1 of %2: %3").arg(Format.count(version)).arg(Format.count(versionCount)).arg(status === MessageModel.Failed ? sentence : beginning)
    Accessible.description: shown ? qsTr("Shown in the conversation") : ""

    Rectangle {
        anchors.fill: parent
        radius: Theme.radius
        color: Theme.raised
        border.width: 1
        border.color: root.shown ? Theme.accent : Theme.border

        FocusRing {
            visible: root.activeFocus
            gap: -2
        }
    }
    ColumnLayout {
        anchors.fill: parent
        anchors.leftMargin: Theme.gap
        anchors.rightMargin: Theme.gapSmall
        anchors.topMargin: Theme.gapSmall
        anchors.bottomMargin: Theme.gapSmall
        spacing: Theme.gapTiny

        AnswerColumnHead {
            Layout.fillWidth: true
            chat: root.chat
            message: root
            shown: root.shown
            live: root.live
        }
        AnswerColumnBody {
            id: body

            objectName: "columnBody"
            Layout.fillWidth: true
            Layout.fillHeight: true
            chat: root.chat
            message: root
            live: root.live
            onLinkRequested: link => root.linkRequested(link)
        }
        // Keeps its height, so that the text stays where it is when the numbers come.
        RowLayout {
            Layout.preferredHeight: Theme.px(30)
            Layout.fillHeight: false
            Layout.rightMargin: Theme.gapSmall
            spacing: Theme.gapSmall

            AnswerEnding {
                Layout.fillWidth: true
                Layout.maximumWidth: implicitWidth + 1
                status: root.status
                elide: Text.ElideRight
            }
            MessageNumbers {
                objectName: "columnNumbers"
                Layout.fillWidth: true
                visible: text !== ""
                message: root
                brief: true
            }
        }
        ActionButton {
            objectName: "keepVersion"
            Layout.fillWidth: true
            Layout.rightMargin: Theme.gapSmall
            Layout.bottomMargin: Theme.gapTiny
            enabled: root.status !== MessageModel.Queued
            text: qsTr("Keep this one")
            Accessible.name: qsTr("Keep this one: version %1").arg(Format.count(root.version))
            onClicked: root.chat.comparison.keep(root.messageId)
        }
    }
}
