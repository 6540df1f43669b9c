// Shows the pressure panel in a window of its own.
import QtQuick
import Spillway.App
import Spillway.Ui.Monitor
import Spillway.Ui.Theme

ProgramWindow {
    id: root

    required property Pressure pressure
    required property ChatController chat
    required property ServerLoad load

    property bool drawn: false // its first frame

    signal conversationRequested(string conversation)
    signal backRequested // to where it was
    signal hideRequested

    width: Theme.px(520)
    minimumWidth: Theme.px(320)
    minimumHeight: Theme.px(300)
    visible: true
    title: qsTr("Memory pressure – Spillway")
    color: Theme.aside
    Component.onCompleted: height = Math.min(Theme.px(900), room.height) // no binding: it is the user's from now on
    onClosing: root.backRequested()
    onAfterAnimating: drawn = true

    PressurePanel {
        objectName: "panelApartView"
        anchors.fill: parent
        visible: root.drawn // Qt 6.4's layouts miss what grows before their window is there
        focus: true
        apart: true
        monitor: root.pressure.monitor
        placement: root.pressure.placement
        events: root.pressure.events
        doctor: root.pressure.doctor
        devices: root.pressure.devices
        chat: root.chat
        load: root.load
        onConversationRequested: conversation => root.conversationRequested(conversation)
        onCloseRequested: root.hideRequested()
        onApartToggled: root.backRequested()
    }
}
