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
    required property bool narrow // some of them are in a menu

    readonly property var pinned: chat.pins.messages
    // The notice of a failed answer has the button for a retry; that of an answer that broke off continues it instead.
    readonly property bool noticeRetries: message.status === MessageModel.Failed && !message.canContinue

    signal editRequested
    signal rawToggled

    component Action: IconButton {
        property bool offered: true
        property bool folded: false // into the menu

        visible: offered && !folded
        size: Theme.px(30)
        pictureSize: Theme.px(17)
    }

    spacing: 2

    Accessible.role: Accessible.Grouping
    Accessible.name: qsTr("Actions")

    Action {
        objectName: "copyButton"
        offered: root.said
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
        id: pin

        readonly property bool pinned: root.pinned.indexOf(root.message.messageId) >= 0

        objectName: "pinButton"
        folded: root.narrow
        offered: root.said && root.chat.pins.possible
        name: pinned ? qsTr("Pinned: leaves the device last. Click to unpin") : qsTr("Keep it on the device")
        source: pinned ? "qrc:/icons/pinned.svg" : "qrc:/icons/pin.svg"
        onClicked: root.chat.pins.toggle(root.message.messageId)
    }
    Action {
        objectName: "continueButton"
        offered: root.message.canContinue
        enabled: root.chat.turn.canSend
        name: qsTr("Continue the answer")
        source: "qrc:/icons/continue.svg"
        onClicked: root.chat.turn.continueAnswer(root.message.messageId)
    }
    Action {
        objectName: "retryButton"
        offered: !root.mine && !root.noticeRetries
        enabled: root.chat.turn.canSend
        name: qsTr("Answer again")
        shortcutText: root.last ? qsTr("Ctrl+R") : ""
        source: "qrc:/icons/retry.svg"
        onClicked: root.chat.turn.regenerate(root.message.messageId)
    }
    // The menu of the button beside it, slim so that the two look like one.
    Action {
        objectName: "retryMenuButton"
        offered: !root.mine && !root.noticeRetries
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
        id: edit

        objectName: "editButton"
        folded: root.narrow
        offered: root.said || root.message.attachments.length > 0
        enabled: !root.chat.turn.busy
        name: root.mine ? qsTr("Edit and send again") : qsTr("Edit the answer")
        source: "qrc:/icons/edit.svg"
        onClicked: root.editRequested()
    }
    Action {
        id: branch

        objectName: "branchButton"
        folded: root.narrow
        name: qsTr("New conversation from here")
        source: "qrc:/icons/branch.svg"
        onClicked: root.chat.versions.branch(root.message.messageId)
    }
    Action {
        id: rawText

        objectName: "rawButton"
        folded: root.narrow
        offered: root.said && !root.mine
        name: root.raw ? qsTr("Show as formatted text") : qsTr("Show as it was generated")
        source: "qrc:/icons/raw.svg"
        onClicked: root.rawToggled()
    }
    // Before Qt 6.5 a Loader cannot make bound components, so what is in them is not found to be qualified.
    // qmllint disable unqualified
    Loader {
        active: root.narrow
        visible: active
        sourceComponent: IconButton {
            id: more

            objectName: "moreButton"
            size: Theme.px(30)
            pictureSize: Theme.px(17)
            name: qsTr("More actions")
            source: "qrc:/icons/more.svg"
            onClicked: {
                menu.active = true;
                (menu.item as FoldedActions).popup(0, height);
            }

            Loader {
                id: menu

                active: false
                sourceComponent: FoldedActions {
                    opener: more
                    buttons: [pin, edit, branch, rawText].filter(button => button.offered)
                    comparable: root.message.versionCount > 1
                    onCompareRequested: root.chat.comparison.show(root.message.messageId)
                }
            }
        }
    }
    // qmllint enable unqualified
}
