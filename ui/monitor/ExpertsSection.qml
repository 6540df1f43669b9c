// Shows where each expert of the model lies, and how often tokens choose it.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Layouts
import Spillway.App
import Spillway.Ui.Components
import Spillway.Ui.Theme

ColumnLayout {
    id: root

    required property PressureMonitor monitor

    readonly property bool present: map.layers > 0 // most models have no experts
    readonly property int count: map.layers * map.experts
    property int span: ExpertMapItem.Answer
    readonly property var places: [
        { key: "expertsOnHost", name: qsTr("RAM"), value: Format.count(map.onHost), color: Theme.kvOnHost, hides: false },
        { key: "expertsCopied", name: qsTr("Copy on the device"), value: Format.count(map.copies), color: Theme.experts, hides: false },
        { key: "expertsOnDevice", name: qsTr("Device"), value: Format.count(map.onDevice), color: Theme.kvOnDevice, hides: false }
    ]

    // Call it when the panel was scrolled under the pointer.
    function forgetPointer() {
        map.forgetPointer();
    }
    function where(place: string): string {
        return place === "host" ? qsTr("in RAM") : place === "device" ? qsTr("on the device") : qsTr("in RAM, with a copy on the device");
    }
    function times(count: real, share: var): string {
        return share === undefined ? Format.count(count)
                                   : qsTr("%1 (%2 of its layer's choices)").arg(Format.count(count)).arg(Format.unbroken(qsTr("%1 %").arg(Format.three(100 * share))));
    }
    // Describes an expert in words.
    function describe(of: var): string {
        if (of.layer === undefined)
            return "";
        const place = qsTr("Layer %1, expert %2: %3").arg(of.layer).arg(of.expert).arg(where(of.place));
        if (!of.counted)
            return place + "\n" + qsTr("A GPU does not say how often it was chosen there");
        return place + "\n" + qsTr("Chosen in this answer: %1").arg(times(of.inAnswer ?? 0, of.shareOfAnswer))
            + "\n" + qsTr("In this conversation: %1").arg(times(of.inConversation ?? 0, of.shareOfConversation));
    }

    spacing: Theme.gapTiny

    ChoiceBar {
        objectName: "expertSpan"
        Layout.fillWidth: true
        Layout.bottomMargin: Theme.gapTiny
        implicitHeight: Theme.px(30)
        name: qsTr("How often experts were chosen")
        choices: [qsTr("In this answer"), qsTr("In this conversation")]
        current: root.span === ExpertMapItem.Answer ? 0 : 1
        onChosen: choice => root.span = choice === 0 ? ExpertMapItem.Answer : ExpertMapItem.Conversation
    }
    ExpertMapItem {
        id: map

        objectName: "expertMap"
        Layout.fillWidth: true
        Layout.preferredHeight: implicitHeight
        z: 1 // its card lies over the items below
        activeFocusOnTab: true
        monitor: root.monitor
        span: root.span
        unit: Theme.px(4)
        mostHeight: Theme.px(160)
        hostColor: Theme.kvOnHost
        deviceColor: Theme.kvOnDevice
        copyColor: Theme.experts
        ground: Theme.aside
        markColor: Theme.text
        onActiveFocusChanged: {
            if (!activeFocus)
                forgetPointer();
        }

        Accessible.role: Accessible.Graphic
        Accessible.name: qsTr("Expert map: %1 experts in RAM, %2 of them with a copy on the device, %3 on the device")
            .arg(Format.count(map.onHost + map.copies)).arg(Format.count(map.copies)).arg(Format.count(map.onDevice))
        Accessible.description: card.text
        Accessible.focusable: true

        Keys.onLeftPressed: step(0, -1)
        Keys.onRightPressed: step(0, 1)
        Keys.onUpPressed: step(-1, 0)
        Keys.onDownPressed: step(1, 0)
        Keys.onPressed: event => {
            if (event.key === Qt.Key_Home)
                step(0, -experts);
            else if (event.key === Qt.Key_End)
                step(0, experts);
            else
                return;
            event.accepted = true;
        }

        FocusRing { visible: map.activeFocus }
        // The card lies over the items below, which do not move.
        Rectangle {
            y: map.height + Theme.gapTiny
            width: map.width
            height: card.implicitHeight + 2 * Theme.gapTiny
            visible: card.text !== ""
            radius: Theme.px(6)
            color: Theme.raised
            border.width: 1
            border.color: Theme.border
            Accessible.ignored: true

            Text {
                id: card

                objectName: "expertMapCard"
                x: Theme.gapSmall
                y: Theme.gapTiny
                width: parent.width - 2 * x
                text: root.describe(map.pointed)
                textFormat: Text.PlainText
                wrapMode: Text.Wrap
                font.pixelSize: Theme.sizeSmall
                color: Theme.text
            }
        }
    }
    Text {
        objectName: "expertsOfAnother"
        Layout.fillWidth: true
        visible: root.monitor.ofAnother
        text: qsTr("This was chosen in the conversation that was computed last, not in this one.")
        textFormat: Text.PlainText
        wrapMode: Text.Wrap
        font.pixelSize: Theme.sizeSmall
        color: Theme.textMuted
    }
    Text {
        Layout.fillWidth: true
        text: qsTr("A line for each layer, in it a cell for each expert: the stronger, the more tokens chose it")
        textFormat: Text.PlainText
        wrapMode: Text.Wrap
        font.pixelSize: Theme.sizeSmall
        color: Theme.textMuted
    }
    Text {
        objectName: "expertsNotCounted"
        Layout.fillWidth: true
        visible: !map.countedOnDevice && map.onDevice > 0
        text: qsTr("A GPU does not say how often those on the device were chosen.")
        textFormat: Text.PlainText
        wrapMode: Text.Wrap
        font.pixelSize: Theme.sizeSmall
        color: Theme.textMuted
    }
    Legend {
        Layout.fillWidth: true
        entries: root.monitor.device.known ? root.places : root.places.slice(0, 1)
    }
}
