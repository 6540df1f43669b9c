// Shows below a message its versions, the model that answered, how it ended, what can be done with it, and its numbers.
// It keeps its height, so that nothing moves when the actions appear.
import QtQuick
import QtQuick.Layouts
import Spillway.App
import Spillway.Ui.Components
import Spillway.Ui.Theme

FocusScope {
    id: root

    required property ChatController chat
    required property var message // the delegate, with the roles of MessageModel
    required property bool mine
    required property bool last
    required property bool attended
    required property bool raw

    signal editRequested
    signal versionRequested(int step)
    signal rawToggled

    readonly property bool said: message.beginning !== ""
    readonly property bool narrow: !mine && message.columnWidth < Theme.px(560) // large text in a small window
    readonly property bool crowded: narrow && message.versionCount > 1
    readonly property bool showsActions: attended && visible
    property bool hasActions: false // true from the first time on: these buttons take longer to make than most messages

    implicitHeight: Theme.px(30)
    onShowsActionsChanged: {
        if (showsActions)
            hasActions = true;
    }

    RowLayout {
        height: parent.height
        x: root.mine ? parent.width - width : -Theme.px(6)
        width: root.mine ? implicitWidth : parent.width + Theme.px(6)
        spacing: 2
        layoutDirection: root.mine ? Qt.RightToLeft : Qt.LeftToRight // actions appear beside the versions, not before

        VersionSwitch {
            objectName: "versionSwitch"
            visible: root.message.versionCount > 1
            version: root.message.version
            versions: root.message.versionCount
            comparable: !root.mine && !root.narrow
            onCompareRequested: root.chat.comparison.show(root.message.messageId)
            onPreviousRequested: root.versionRequested(-1)
            onNextRequested: root.versionRequested(1)
        }
        Text {
            objectName: "answerModel"
            Layout.leftMargin: Theme.px(6)
            Layout.rightMargin: Theme.gapTiny
            Layout.fillWidth: true
            Layout.minimumWidth: Math.min(Math.ceil(implicitWidth), Theme.px(60))
            Layout.maximumWidth: Math.min(Math.ceil(implicitWidth), Theme.px(180))
            visible: !root.mine && text !== "" && !root.crowded && !(root.narrow && ending.text !== "")
            text: root.message.modelName
            textFormat: Text.PlainText
            elide: Text.ElideMiddle
            font.pixelSize: Theme.sizeSmall
            color: Theme.textMuted

            Accessible.role: Accessible.StaticText
            Accessible.name: qsTr("Answered by %1").arg(text)
        }
        // Before Qt 6.5 a Loader cannot make bound components, and the linter takes outer ids in them for unqualified.
        // qmllint disable unqualified
        Loader {
            visible: root.attended
            active: root.hasActions
            sourceComponent: MessageActions {
                chat: root.chat
                message: root.message
                mine: root.mine
                last: root.last
                said: root.said
                raw: root.raw
                narrow: root.narrow
                onEditRequested: root.editRequested()
                onRawToggled: root.rawToggled()
            }
        }
        // qmllint enable unqualified
        AnswerEnding {
            id: ending

            Layout.leftMargin: Theme.gapSmall
            Layout.fillWidth: true
            Layout.minimumWidth: Math.min(Math.ceil(implicitWidth), Theme.px(root.crowded ? 30 : 90)) // before the others
            Layout.maximumWidth: Math.ceil(implicitWidth)
            elide: Text.ElideRight
            status: root.message.status
        }
        MessageNumbers {
            objectName: "answerNumbers"
            Layout.fillWidth: true
            Layout.maximumWidth: implicitWidth
            Layout.leftMargin: Theme.gapSmall
            visible: !root.mine && root.attended && text !== "" && !(root.crowded && ending.text !== "")
            message: root.message
        }
        Item {
            Layout.fillWidth: true
        }
    }
}
