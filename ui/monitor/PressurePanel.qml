// Shows the right column: where the model's memory lies, what that costs, and the controls to change it.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Layouts
import Spillway.App
import Spillway.Ui.Components
import Spillway.Ui.Theme

FocusScope {
    id: root

    required property PressureMonitor monitor
    required property PlacementController placement
    required property ShownPlacementEvents events
    required property DeviceController devices
    required property DoctorController doctor
    required property ChatController chat
    required property ServerLoad load
    property bool apart: false // in a window of its own

    readonly property bool elsewhere: load.server !== "" && !monitor.replaying // the open model runs on a server
    readonly property bool recorded: monitor.replaying || monitor.earlier // what is shown was recorded earlier

    signal conversationRequested(string conversation)
    signal closeRequested
    signal apartToggled

    implicitWidth: Theme.px(360)

    Accessible.role: Accessible.Pane
    Accessible.name: qsTr("Memory pressure")

    // Qt 6.4's layouts do not notice what grows while they are hidden. A change of the width makes them arrange their
    // items again.
    Timer {
        id: shown

        property bool lookedAgain: false

        interval: 30 // after the first frame
        running: root.visible && !lookedAgain
        onTriggered: lookedAgain = true
    }
    onVisibleChanged: {
        if (!visible)
            shown.lookedAgain = false;
    }

    Rectangle {
        anchors.fill: parent
        color: Theme.aside
    }
    Rectangle {
        visible: !root.apart
        width: 1
        height: parent.height
        color: Theme.border
    }
    ColumnLayout {
        anchors.fill: parent
        anchors.leftMargin: 1
        spacing: 0

        PanelHeader {
            id: header

            Layout.fillWidth: true
            Layout.leftMargin: Theme.gap
            Layout.rightMargin: Theme.gapSmall
            Layout.topMargin: Theme.gapSmall
            monitor: root.monitor
            apart: root.apart
            onApartToggled: root.apartToggled()
            onCloseRequested: root.closeRequested()
        }
        RevealingView {
            id: flick

            objectName: "panelView"
            Layout.fillWidth: true
            Layout.fillHeight: true
            contentHeight: column.implicitHeight + Theme.gap
            onContentYChanged: {
                kvMap.forgetPointer();
                experts.forgetPointer();
                root.chat.lit.pointAtMessage("");
            }

            GridLayout {
                id: column

                objectName: "panelGrid"
                x: Theme.gapSmall
                width: flick.width - Theme.gapSmall - Theme.px(12) - (shown.lookedAgain ? 0 : 1)
                columns: root.apart && width >= Theme.px(680) ? 2 : 1
                columnSpacing: Theme.gap
                rowSpacing: 0

                PanelNotices {
                    Layout.fillWidth: true
                    Layout.columnSpan: column.columns
                    Layout.bottomMargin: Theme.gapSmall
                    monitor: root.monitor
                    chat: root.chat
                    ofServer: root.elsewhere
                    refusal: header.refusal
                    onRefusalDismissed: header.refusal = ""
                    onConversationRequested: conversation => root.conversationRequested(conversation)
                }
                PanelSection {
                    visible: root.elsewhere
                    title: qsTr("Server")
                    note: root.load.server

                    ServerSection {
                        Layout.fillWidth: true
                        load: root.load
                    }
                }
                PanelSection {
                    visible: root.monitor.device.known
                    title: qsTr("Device memory")
                    note: root.monitor.deviceName

                    ChoiceBar {
                        objectName: "axisBar"
                        Layout.fillWidth: true
                        implicitHeight: Theme.px(30)
                        name: qsTr("Memory over")
                        choices: [qsTr("Tokens"), qsTr("Time")]
                        current: device.axis === OccupancyChart.Tokens ? 0 : 1
                        onChosen: choice => device.axis = choice === 0 ? OccupancyChart.Tokens : OccupancyChart.Time
                    }
                    OccupancySection {
                        id: device

                        Layout.fillWidth: true
                        monitor: root.monitor
                        placement: root.placement
                        memory: OccupancyChart.Device
                        axis: OccupancyChart.Tokens
                    }
                }
                PanelSection {
                    visible: root.monitor.hasModel || root.recorded
                    title: qsTr("Speed")
                    note: root.recorded ? "" : Format.tokensPerSecond(root.monitor.tokensPerSecond)

                    SpeedSection {
                        Layout.fillWidth: true
                        monitor: root.monitor
                        placement: root.placement
                        elsewhere: root.elsewhere
                    }
                }
                PanelSection {
                    visible: guesses.any && (root.monitor.hasModel || root.recorded)
                    title: qsTr("Guessed ahead")
                    note: guesses.share

                    GuessSection {
                        id: guesses

                        Layout.fillWidth: true
                        monitor: root.monitor
                    }
                }
                PanelSection {
                    visible: root.monitor.hasModel && !root.monitor.replaying && !root.elsewhere
                    title: qsTr("Flow")

                    PipelineView {
                        objectName: "pipeline"
                        Layout.fillWidth: true
                        pipeline: root.monitor.pipeline
                        hasDevice: root.monitor.device.known
                    }
                }
                PanelSection {
                    visible: root.monitor.hasModel && !root.monitor.replaying && !root.elsewhere
                    title: qsTr("KV map")
                    note: root.recorded || root.monitor.ofAnother ? "" : qsTr("%1 tokens").arg(Format.count(root.monitor.contextTokens))

                    KvMapSection {
                        id: kvMap

                        Layout.fillWidth: true
                        monitor: root.monitor
                        chat: root.chat
                    }
                }
                PanelSection {
                    visible: experts.present && !root.monitor.replaying && !root.elsewhere
                    title: qsTr("Experts")
                    note: Format.count(experts.count)

                    ExpertsSection {
                        id: experts

                        Layout.fillWidth: true
                        monitor: root.monitor
                    }
                }
                PanelSection {
                    visible: hitRate.present && !root.elsewhere
                    title: qsTr("Experts found on the device")
                    note: root.recorded ? "" : hitRate.now

                    HitRateSection {
                        id: hitRate

                        Layout.fillWidth: true
                        monitor: root.monitor
                    }
                }
                PanelSection {
                    visible: root.placement.layers > 0 && !root.monitor.replaying
                    title: qsTr("Placement")

                    PlacementSection {
                        Layout.fillWidth: true
                        placement: root.placement
                        devices: root.devices
                    }
                }
                PanelSection {
                    visible: (root.monitor.hasModel || root.recorded) && !root.elsewhere
                    title: qsTr("What moved")
                    note: Format.count(root.events.count)

                    EventsSection {
                        Layout.fillWidth: true
                        events: root.events
                        chat: root.chat
                    }
                }
                PanelSection {
                    visible: root.monitor.host.known && !root.elsewhere
                    title: qsTr("RAM")
                    folded: root.monitor.device.known

                    OccupancySection {
                        Layout.fillWidth: true
                        monitor: root.monitor
                        placement: root.placement
                        memory: OccupancyChart.Host
                        axis: device.axis
                    }
                }
            }
        }
        // Below the rest, so that nothing moves when it appears.
        DoctorCard {
            objectName: "doctorCard"
            Layout.fillWidth: true
            Layout.margins: Theme.gapSmall
            visible: (doctor.sentence !== "" || doctor.result !== "") && !root.monitor.replaying
            doctor: root.doctor
        }
    }
}
