// Shows the page before the first message: how to get a model, the one that is being opened, or what the open one can
// do. It scrolls where there is not enough room.
import QtQuick
import QtQuick.Layouts
import Spillway.App
import Spillway.Ui.Components
import Spillway.Ui.Models
import Spillway.Ui.Theme

RevealingView {
    id: root

    required property ChatController chat
    required property ModelController models
    required property DeviceController devices
    required property list<string> servers // that may answer with the open model
    required property int columnWidth
    required property bool hasGuide
    required property bool offersQuestions // questions to begin with are offered

    readonly property bool opening: models.phase !== ModelController.Idle
    readonly property Item shown: opening ? card : models.current.known ? ready : empty

    signal openRequested
    signal guideRequested
    signal asked(string question)

    function takeFocus() {
        if (models.phase === ModelController.Offered)
            card.takeFocus();
        else
            empty.takeFocus();
    }

    contentHeight: Math.max(height, shown.implicitHeight)
    onShownChanged: contentY = 0

    EmptyState {
        id: empty

        objectName: "emptyState"
        anchors.horizontalCenter: parent.horizontalCenter
        y: Math.max(0, Math.round((root.height - height) / 2))
        width: root.columnWidth
        visible: root.shown === empty
        room: root.height
        hasGuide: root.hasGuide
        onOpenRequested: root.openRequested()
        onGuideRequested: root.guideRequested()
    }
    ColumnLayout {
        id: ready

        anchors.horizontalCenter: parent.horizontalCenter
        y: Math.max(0, Math.round((root.height - height) / 2)) // never above the top: its beginning is seen first
        width: root.columnWidth
        visible: root.shown === ready
        spacing: Theme.gapLarge

        ReadyState {
            objectName: "readyState"
            Layout.fillWidth: true
            facts: root.models.current
            continuesText: root.chat.continuesText
            servers: root.servers
        }
        QuestionChips {
            objectName: "questionChips"
            Layout.fillWidth: true
            Layout.maximumWidth: Theme.px(560)
            Layout.alignment: Qt.AlignHCenter
            visible: root.offersQuestions
            onAsked: question => root.asked(question)
        }
        TryDevice {
            objectName: "tryDeviceCard"
            Layout.fillWidth: true
            Layout.maximumWidth: Theme.px(520)
            Layout.alignment: Qt.AlignHCenter
            visible: wanted && root.models.current.server === "" // the model runs on this machine
            devices: root.devices
            room: Math.min(root.columnWidth, Theme.px(520))
        }
    }
    ModelCard {
        id: card

        objectName: "modelCard"
        anchors.horizontalCenter: parent.horizontalCenter
        y: Math.max(0, Math.round((root.height - height) / 2))
        width: Math.min(implicitWidth, root.columnWidth)
        visible: root.shown === card
        models: root.models
        answering: root.chat.turn.busy
    }
}
