// Shows the buttons for what can be done with a message.
import QtQuick
import Spillway.App
import Spillway.Ui.Components
import Spillway.Ui.Theme

Row {
    id: root

    required property ChatController chat
    required property var message // the delegate, with the roles of MessageModel
    required property bool mine
    required property bool last
    required property bool said // the message has text
    required property bool raw

    readonly property var pinned: chat.pins.messages
    // The notice of a failed answer has the button for a retry; that of an answer that broke off continues it instead.
    readonly property bool noticeRetries: message.status === MessageModel.Failed && !message.canContinue

    signal editRequested
    signal rawToggled

    component Action: IconButton {
        size: Theme.px(30)
        pictureSize: Theme.px(17)
    }

    spacing: 2

    Accessible.role: Accessible.Grouping
    Accessible.name: qsTr("Actions")

    Action {
        objectName: "copyButton"
        visible: root.said
        name: done.running ? qsTr("Copied") : root.mine ? qsTr("Copy your message") : qsTr("Copy the answer")
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
    Action {
        readonly property bool pinned: root.pinned.indexOf(root.message.messageId) >= 0

        objectName: "pinButton"
        visible: root.said && root.chat.pins.possible
        name: pinned ? qsTr("Pinned: leaves the device last. Click to unpin") : qsTr("Keep it on the device")
        source: pinned ? "qrc:/icons/pinned.svg" : "qrc:/icons/pin.svg"
        onClicked: root.chat.pins.toggle(root.message.messageId)
    }
    Action {
        objectName: "continueButton"
        visible: root.message.canContinue
        enabled: root.chat.turn.canSend
        name: qsTr("Continue the answer")
        source: "qrc:/icons/continue.svg"
        onClicked: root.chat.turn.continueAnswer(root.message.messageId)
    }
    Action {
        objectName: "retryButton"
        visible: !root.mine && !root.noticeRetries
        enabled: root.chat.turn.canSend
        name: qsTr("Answer again")
        shortcutText: root.last ? qsTr("Ctrl+R") : ""
        source: "qrc:/icons/retry.svg"
        onClicked: root.chat.turn.regenerate(root.message.messageId)
    }
    // The menu of the button beside it, slim so that the two look like one.
    Action {
        objectName: "retryMenuButton"
        visible: !root.mine && !root.noticeRetries
        enabled: root.chat.turn.canSend
        width: Theme.px(18)
        pictureSize: Theme.px(14)
        name: qsTr("Answer again, with several versions at once")
        source: "qrc:/icons/chevron.svg"
        onClicked: {
            versionsMenu.active = true;
            (versionsMenu.item as VersionsMenu).popup(0, height);
        }

        // Before Qt 6.5 a Loader cannot make bound components, and the linter takes outer ids in them for unqualified.
        // qmllint disable unqualified
        Loader {
            id: versionsMenu

            active: false
            sourceComponent: VersionsMenu {
                onVersionsRequested: versions => root.chat.turn.regenerateTogether(root.message.messageId, versions)
            }
        }
        // qmllint enable unqualified
    }
    Action {
        objectName: "editButton"
        visible: root.said || root.message.attachments.length > 0
        enabled: !root.chat.turn.busy
        name: root.mine ? qsTr("Edit and send again") : qsTr("Edit the answer")
        source: "qrc:/icons/edit.svg"
        onClicked: root.editRequested()
    }
    Action {
        objectName: "branchButton"
        name: qsTr("New conversation from here")
        source: "qrc:/icons/branch.svg"
        onClicked: root.chat.versions.branch(root.message.messageId)
    }
    Action {
        objectName: "rawButton"
        visible: root.said && !root.mine
        name: root.raw ? qsTr("Show as formatted text") : qsTr("Show as it was generated")
        source: "qrc:/icons/raw.svg"
        onClicked: root.rawToggled()
    }
}
