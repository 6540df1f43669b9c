// Shows notices above the composer: a model that is offered, what went wrong, that the context is full. It scrolls
// where it is higher than allowed.
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
    required property bool offering // a model that is being opened is shown here
    required property real tallest

    signal newRequested
    signal editRequested // the last question is to be edited

    function takeFocus() {
        card.takeFocus();
    }

    implicitHeight: Math.min(contentHeight, Math.round(tallest))
    visible: offering || modelError.wanted || warnings.wanted || contextNotice.wanted
    contentHeight: column.implicitHeight

    ColumnLayout {
        id: column

        width: parent.width
        spacing: Theme.gapSmall

        ModelCard {
            id: card

            objectName: "dockedModelCard"
            Layout.fillWidth: true
            visible: root.offering
            models: root.models
            answering: root.chat.turn.busy
        }
        ModelError {
            id: modelError

            objectName: "modelError"
            Layout.fillWidth: true
            visible: wanted
            models: root.models
        }
        Notice {
            id: warnings

            readonly property bool wanted: root.chat.warnings !== ""

            objectName: "warnings"
            Layout.fillWidth: true
            visible: wanted
            kind: Notice.Warning
            sentence: root.chat.warnings
            onDismissRequested: root.chat.dismissWarnings()
        }
        ContextNotice {
            id: contextNotice

            objectName: "contextNotice"
            Layout.fillWidth: true
            visible: wanted
            chat: root.chat
            onNewRequested: root.newRequested()
            onEditRequested: root.editRequested()
        }
    }
}
