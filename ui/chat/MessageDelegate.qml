// Shows one message, the user's in a quiet bubble on the right, the model's across the column, and below it what can be
// done with it.
import QtQuick
import QtQuick.Layouts
import Spillway.App
import Spillway.Ui.Attachments
import Spillway.Ui.Theme

Item {
    id: root

    // from the model
    required property int index
    required property string messageId
    required property int author
    required property BlockModel blocks
    required property var attachments
    required property string beginning
    required property int status
    required property string sentence
    required property int version
    required property int versionCount
    required property bool leftOut
    required property int leftOutAbove
    required property bool canContinue
    required property bool unanswered
    required property string modelName
    required property var promptTokens
    required property var templateTokens
    required property var ownTokens
    required property var ttftMs
    required property var tokensPerSecond
    required property var draftedTokens
    required property var acceptedTokens

    // from the page
    required property ChatController chat
    required property MessageEditing editing
    required property int columnWidth
    required property bool last
    required property bool found // a search has just found this message
    required property bool unfolded // a long question: all of it is shown

    signal linkRequested(string link)
    signal attachmentShown(string name, string text, int characters)
    signal versionRequested(int step)
    signal foldRequested(bool folded)
    signal leaveRequested // the keyboard should go elsewhere

    readonly property bool mine: author === MessageModel.User
    readonly property bool live: status === MessageModel.Queued || status === MessageModel.Waiting || status === MessageModel.Streaming
    readonly property bool edited: editing.message === messageId
    readonly property bool attended: last || hover.hovered || activeFocus || actions.activeFocus // its actions are shown

    property bool raw: false // shown with all its marks, until more is generated

    onLiveChanged: {
        if (live)
            raw = false;
    }

    // Returns the y above which this share of a block's text lies.
    function yOf(block: int, share: real): real {
        return body.y + body.yOf(block, share);
    }

    objectName: "message"
    implicitHeight: column.implicitHeight
    activeFocusOnTab: true
    Keys.onLeftPressed: body.scrollSideways(-Theme.px(60))
    Keys.onRightPressed: body.scrollSideways(Theme.px(60))

    Accessible.role: Accessible.ListItem
    Accessible.name: mine ? qsTr("You: %1").arg(beginning) : qsTr("Model: %1").arg(beginning)
    Accessible.description: leftOut ? qsTr("No longer given to the model") : ""

    HoverHandler {
        id: hover

        onHoveredChanged: root.chat.lit.pointAtMessage(hovered ? root.messageId : "")
    }
    // Shown while the pointer is on this message's tokens in the KV map.
    Rectangle {
        objectName: "litMark"
        x: column.x - Theme.gapSmall - width
        y: body.y
        width: 3
        height: body.height
        radius: 1
        color: Theme.accent
        visible: root.chat.lit.message === root.messageId && !hover.hovered
    }
    Rectangle {
        objectName: "foundMark"
        anchors.horizontalCenter: parent.horizontalCenter
        y: -Theme.gapSmall
        width: column.width + 2 * Theme.gapSmall
        height: body.y + body.height + 2 * Theme.gapSmall
        radius: Theme.radius
        color: Theme.selected
        visible: opacity > 0
        opacity: root.found ? 1 : 0

        Behavior on opacity {
            enabled: !root.found
            NumberAnimation { duration: 4 * Theme.fast }
        }
    }

    ColumnLayout {
        id: column

        width: root.columnWidth
        anchors.horizontalCenter: parent.horizontalCenter
        spacing: Theme.gapTiny

        LeftOutMark {
            objectName: "leftOutMark"
            Layout.fillWidth: true
            Layout.bottomMargin: Theme.gap
            visible: messages > 0
            messages: root.leftOutAbove
            onBringBackRequested: root.chat.context.bringBack(root.messageId)
        }
        AttachmentChips {
            objectName: "messageAttachments"
            Layout.alignment: Qt.AlignRight
            Layout.preferredWidth: Math.min(natural, widest)
            widest: root.columnWidth * 0.84
            opacity: root.leftOut ? 0.55 : 1
            attachments: root.edited ? [] : root.attachments // the editor shows those that stay
            onShown: (name, text, characters) => root.attachmentShown(name, text, characters)
        }
        MessageBody {
            id: body

            objectName: "messageBody"
            Layout.alignment: root.mine ? Qt.AlignRight : Qt.AlignLeft
            Layout.fillWidth: !root.mine
            Layout.preferredWidth: root.mine ? wanted : -1
            visible: !root.edited && root.beginning !== ""
            opacity: root.leftOut ? 0.55 : 1
            mine: root.mine
            widest: root.columnWidth
            blocks: root.blocks
            beginning: root.mine ? root.beginning : ""
            rawText: root.raw ? root.chat.messages.shownText(root.index) : ""
            guessed: root.raw ? root.chat.messages.guessedPlaces(root.index) : []
            focused: root.activeFocus
            unfolded: root.unfolded
            onFoldRequested: folded => root.foldRequested(folded)
            onCopyRequested: text => root.chat.clipboard.copy(text)
            onLinkRequested: link => root.linkRequested(link)
        }
        // Before Qt 6.5 a Loader cannot make bound components, and the linter takes outer ids in them for unqualified.
        // qmllint disable unqualified
        Loader {
            Layout.fillWidth: true
            Layout.bottomMargin: Theme.gapSmall
            active: root.edited
            visible: active
            sourceComponent: MessageEditor {
                mine: root.mine
                editing: root.editing
                clipboard: root.chat.clipboard
                longest: root.chat.versions.longest
                obstacle: root.mine || root.chat.turn.busy ? root.chat.turn.obstacle : ""
                onAttachmentShown: (name, text, characters) => root.attachmentShown(name, text, characters)
                onAccepted: text => {
                    const files = root.editing.attachments.map(file => file.id);
                    if (root.mine ? root.chat.versions.edit(root.messageId, text, files) : root.chat.versions.edit(root.messageId, text))
                        root.editing.end();
                }
            }
        }
        WaitingDots {
            objectName: "waitingDots"
            visible: root.status === MessageModel.Waiting
        }
        MessageState {
            objectName: "messageState"
            Layout.fillWidth: true
            visible: !root.edited && wanted
            chat: root.chat
            message: root
            last: root.last
            onLeaveRequested: root.leaveRequested()
        }
        MessageFooter {
            id: actions

            objectName: "footer"
            Layout.fillWidth: true
            visible: !root.live && !root.edited
            chat: root.chat
            message: root
            mine: root.mine
            last: root.last
            attended: root.attended
            raw: root.raw
            onRawToggled: root.raw = !root.raw
            onVersionRequested: step => root.versionRequested(step)
            onEditRequested: root.editing.begin(root.messageId, root.chat.rawText(root.messageId), root.attachments)
        }
    }
}
