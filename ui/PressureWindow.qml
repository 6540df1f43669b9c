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

    property bool drawn: false // the first frame has been drawn

    signal conversationRequested(string conversation)
    signal backRequested // back into the main window
    signal hideRequested

    width: Theme.px(520)
    minimumWidth: Theme.px(320)
    minimumHeight: Theme.px(300)
    visible: true
    title: qsTr("Memory pressure – Spillway")
    color: Theme.aside
    Component.onCompleted: height = Math.min(Theme.px(900), room.height) // no binding: the user may change it later
    onClosing: root.backRequested()
    onAfterAnimating: drawn = true

    PressurePanel {
        objectName: "panelApartView"
        anchors.fill: parent
        visible: root.drawn // Qt 6.4's layouts do not notice what grows before the first frame
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
