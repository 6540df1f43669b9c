// Shows the conversation: its messages, the model that is being opened, what went wrong, and where to type.
import QtQuick
import QtQuick.Layouts
import Spillway.App
import Spillway.Ui.Monitor
import Spillway.Ui.Theme
import Spillway.Ui.Tuning

FocusScope {
    id: root

    required property ChatController chat
    required property ComposerController composer
    required property ConversationSettingsController conversationSettings
    required property SettingsController settings
    required property ModelController models
    required property DeviceController devices
    required property list<string> servers // that may answer with the open model

    property bool hasGuide: false
    property bool guideOpen: false

    signal openRequested
    signal guideRequested
    signal newRequested
    signal removeRequested // the shown conversation is to be deleted
    signal undoRequested // Ctrl+Z in a field that has nothing to undo

    readonly property bool opening: models.phase !== ModelController.Idle
    readonly property bool offered: models.phase === ModelController.Offered
    readonly property bool popupOpen: settingsPanel.visible || writing.popupOpen || list.popupOpen || status.popupOpen // Esc is theirs
    readonly property bool blank: chat.messages.count === 0
    readonly property int columnWidth: Math.min(Theme.columnWidth, width - 2 * Theme.gapLarge)

    // Gives the keyboard to the question whether to open a model, if there is one, else to the message, which can be
    // written also while a model is loaded.
    function takeFocus() {
        if (blank && (offered || (!opening && !models.current.known && !writing.wanted)))
            greeting.takeFocus();
        else if (offered)
            head.takeFocus();
        else
            writing.takeFocus();
    }

    function meanRow() {
        writing.meanRow();
    }
    function attach() {
        writing.attach();
    }
    function showSettings() {
        settingsPanel.open();
    }

    function showMessage(message: string, excerpt: string) {
        chat.comparison.close();
        list.showMessage(message, excerpt);
    }

    function editLast() {
        chat.comparison.close();
        list.editLast();
    }

    // Moves the keyboard on when the model's phase has changed, since the control that had it may be hidden now. Does
    // nothing while another control or a message that is edited has it.
    function followPhase() {
        if (!root)
            return; // the page is being destroyed
        const here = root.Window.active ? root.activeFocus : root.focus && !root.popupOpen;
        if (!here || list.writing)
            return;
        root.takeFocus();
        settling.restart();
    }

    Component.onCompleted: {
        takeFocus();
        settling.start();
    }
    function type(text: string) {
        if (models.current.known || opening)
            writing.type(text);
    }

    // Typed text goes into the message, wherever the last click was.
    Keys.onPressed: event => {
        const typed = (models.current.known || opening) && event.text > " " && event.text !== "\u007f" && !(event.modifiers & (Qt.ControlModifier | Qt.AltModifier | Qt.MetaModifier));
        if (typed)
            writing.type(event.text);
        event.accepted = typed;
    }

    // Waits a frame, since a control that has just appeared with the keyboard is laid out then.
    Timer {
        id: settling

        interval: 50
        onTriggered: {
            greeting.reveal(root.Window.activeFocusItem);
            head.reveal(root.Window.activeFocusItem);
        }
    }
    Connections {
        target: root.models

        function onPhaseChanged() {
            // Later, when all items have reacted to the phase.
            Qt.callLater(root.followPhase); // qmllint disable
        }
    }

    ColumnLayout {
        anchors.fill: parent
        spacing: 0

        Item {
            Layout.fillWidth: true
            Layout.fillHeight: true
            clip: true

            MessageList {
                id: list

                objectName: "messageList"
                anchors.fill: parent
                visible: !root.blank && !columns.active
                chat: root.chat
                columnWidth: root.columnWidth
                onLeaveRequested: writing.takeFocus()
            }
            // Before Qt 6.5 a Loader cannot make bound components, and the linter takes outer ids in them for
            // unqualified.
            // qmllint disable unqualified
            Loader {
                id: columns

                anchors.fill: parent
                active: root.chat.comparison.shown
                onLoaded: (item as AnswerColumns).takeFocus()
                onActiveChanged: {
                    if (!active)
                        root.takeFocus();
                }
                sourceComponent: AnswerColumns {
                    chat: root.chat
                }
            }
            // qmllint enable unqualified
            Greeting {
                id: greeting

                objectName: "greeting"
                anchors.fill: parent
                visible: root.blank
                chat: root.chat
                models: root.models
                devices: root.devices
                servers: root.servers
                columnWidth: root.columnWidth
                hasGuide: root.hasGuide
                offersQuestions: root.guideOpen && !writing.wanted
                onOpenRequested: root.openRequested()
                onGuideRequested: root.guideRequested()
                onAsked: question => writing.ask(question)
                onHeightChanged: settling.restart()
                onContentHeightChanged: settling.restart()
            }
        }

        ColumnLayout {
            Layout.alignment: Qt.AlignHCenter
            Layout.preferredWidth: root.columnWidth
            Layout.maximumWidth: root.columnWidth
            Layout.topMargin: Theme.gapSmall
            Layout.bottomMargin: 12
            spacing: Theme.gapSmall

            ComposerHead {
                id: head

                Layout.fillWidth: true
                chat: root.chat
                models: root.models
                offering: !root.blank && root.opening
                tallest: Math.max(root.height / 3, root.height - Theme.px(150)) // leaves room for the other items
                onNewRequested: root.newRequested()
                onEditRequested: root.editLast()
            }
            Composer {
                id: writing

                objectName: "composer"
                Layout.fillWidth: true
                chat: root.chat
                composer: root.composer
                settings: root.settings
                tallest: Math.max(Theme.px(96), root.height / 3)
                modelName: root.models.current.name
                onUndoRequested: root.undoRequested()
                onEditLastRequested: root.editLast()
                onRemoveRequested: root.removeRequested()
            }
            StatusLine {
                id: status

                objectName: "statusLine"
                Layout.fillWidth: true
                // Its numbers have their names only where there is room. Without this the names would keep the column
                // as wide as they are when the window becomes narrower.
                Layout.minimumWidth: 0
                Layout.leftMargin: Theme.gapSmall
                Layout.rightMargin: Theme.gapSmall
                chat: root.chat
                composer: root.composer
            }
        }
    }

    ConversationSettingsPanel {
        id: settingsPanel

        objectName: "conversationSettings"
        settings: root.conversationSettings
        continuesText: root.chat.continuesText
        onClosed: root.takeFocus()
    }
}
