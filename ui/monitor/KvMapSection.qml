// Shows where each block of the conversation's keys and values lies, and the states of recurrent layers.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Layouts
import Spillway.App
import Spillway.Ui.Components
import Spillway.Ui.Theme

ColumnLayout {
    id: root

    required property PressureMonitor monitor
    required property ChatController chat

    readonly property var under: map.pointed
    readonly property var pinned: chat.pins.messages
    readonly property bool hasStates: map.statesOnDevice + map.statesOnHost > 0
    readonly property var blocks: [
        { key: "device", name: qsTr("Device"), value: Format.count(monitor.blocksOnDevice), color: Theme.kvOnDevice, hides: false },
        { key: "host", name: qsTr("RAM"), value: Format.count(monitor.blocksOnHost), color: Theme.kvOnHost, hides: false },
        { key: "moving", name: qsTr("Moving"), value: "", color: Theme.kvMoving, hides: false },
        { key: "window", name: qsTr("Behind the window"), value: "", color: Theme.borderStrong, hides: false }
    ]
    readonly property var stateKinds: [
        { key: "stateOnDevice", name: qsTr("States on the device"), value: Format.count(map.statesOnDevice), color: Theme.state, hides: false },
        { key: "stateOnHost", name: qsTr("States in RAM"), value: Format.count(map.statesOnHost), color: Theme.state, hides: false, hollow: true }
    ]
    readonly property string spoken: {
        const ofBlocks = qsTr("KV map: %1 blocks on the device, %2 in RAM").arg(Format.count(monitor.blocksOnDevice)).arg(Format.count(monitor.blocksOnHost));
        return hasStates ? qsTr("%1; states of fixed size: %2 on the device, %3 in RAM").arg(ofBlocks)
                               .arg(Format.count(map.statesOnDevice)).arg(Format.count(map.statesOnHost)) : ofBlocks;
    }

    // Call it when the panel was scrolled under the pointer.
    function forgetPointer() {
        map.forgetPointer();
    }
    // Describes a cell in words.
    function where(cell: var): string {
        const parts = [];
        if (cell.device > 0)
            parts.push(qsTr("on the device"));
        if (cell.host > 0)
            parts.push(qsTr("in RAM"));
        if (cell.moving > 0)
            parts.push(qsTr("on its way"));
        if (cell.window > 0)
            parts.push(qsTr("behind the window"));
        return parts.join(", ");
    }
    function describe(cell: var): string {
        const layers = cell.firstLayer === cell.lastLayer ? qsTr("layer %1").arg(cell.firstLayer)
                                                         : qsTr("layers %1–%2").arg(cell.firstLayer).arg(cell.lastLayer);
        if (cell.states > 0)
            return qsTr("%n state(s) of fixed size, %1: %2, %3", "", cell.states).arg(layers).arg(where(cell)).arg(Format.bytes(cell.bytes));
        if (cell.column === undefined)
            return "";
        const first = Format.count(cell.firstToken), last = Format.count(cell.lastToken);
        if (where(cell) === "")
            return qsTr("Tokens %1–%2, %3: no KV of their own").arg(first).arg(last).arg(layers);
        return qsTr("Tokens %1–%2, %3: %4, %5").arg(first).arg(last).arg(layers).arg(where(cell)).arg(Format.bytes(cell.bytes))
            + (cell.pinned ? ", " + qsTr("pinned") : "") + lastMove(cell);
    }
    function lastMove(cell: var): string {
        if (cell.movedAt === undefined)
            return "";
        const how = cell.movedWhy === "" ? cell.movedHow : qsTr("%1 (%2)").arg(cell.movedHow).arg(cell.movedWhy);
        return "\n" + qsTr("Moved last: %1, %2").arg(how).arg(cell.movedAt.toLocaleTimeString(Qt.locale(), "hh:mm:ss"));
    }

    spacing: Theme.gapTiny

    Text {
        objectName: "kvMapEmpty"
        Layout.fillWidth: true
        visible: map.columns === 0
        text: root.chat.messages.count === 0 ? qsTr("Nothing is kept yet: the first words fill the first block.")
            : qsTr("Nothing of this conversation is in memory now. The next answer brings back what is saved of it on the disk, and reads the rest.")
        textFormat: Text.PlainText
        wrapMode: Text.Wrap
        font.pixelSize: Theme.sizeSmall
        color: Theme.textMuted
    }
    KvMapItem {
        id: map

        objectName: "kvMap"
        Layout.fillWidth: true
        Layout.preferredHeight: implicitHeight
        z: 1 // its card lies over the items below
        activeFocusOnTab: columns > 0
        visible: root.monitor.hasModel || columns > 0 // in this order: being seen, it takes the map, which sets its columns
        monitor: root.monitor
        unit: Theme.px(4)
        mostHeight: Theme.px(120)
        deviceColor: Theme.kvOnDevice
        hostColor: Theme.kvOnHost
        movingColor: Theme.kvMoving
        windowColor: Theme.borderStrong
        stateColor: Theme.state
        emptyColor: Theme.border
        pinColor: Theme.text
        lightColor: Theme.text
        lightFirst: root.monitor.ofAnother ? -1 : root.chat.lit.first
        lightLast: root.monitor.ofAnother ? -1 : root.chat.lit.last
        onPointedChanged: root.chat.lit.pointAtToken(root.under.column === undefined || root.monitor.ofAnother ? -1 : root.under.firstToken)

        onActiveFocusChanged: {
            if (!activeFocus)
                forgetPointer();
        }

        Accessible.role: Accessible.Graphic
        Accessible.name: root.spoken
        Accessible.description: card.text
        Accessible.focusable: true

        Keys.onLeftPressed: step(-1, 0)
        Keys.onRightPressed: step(1, 0)
        Keys.onUpPressed: step(0, -1)
        Keys.onDownPressed: step(0, 1)
        Keys.onPressed: event => {
            if (event.key === Qt.Key_Home)
                step(-columns, 0);
            else if (event.key === Qt.Key_End)
                step(columns, 0);
            else
                return;
            event.accepted = true;
        }

        FocusRing { visible: map.activeFocus }
        Rectangle {
            objectName: "kvMapMark"
            x: map.mark.x - 1
            y: map.mark.y - 1
            width: map.mark.width + 1
            height: map.mark.height + 1
            visible: map.activeFocus && map.mark.width > 0
            color: "transparent"
            border.width: 1
            border.color: Theme.text
        }
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

                objectName: "kvMapCard"
                x: Theme.gapSmall
                y: Theme.gapTiny
                width: parent.width - 2 * x
                text: root.describe(root.under)
                textFormat: Text.PlainText
                wrapMode: Text.Wrap
                font.pixelSize: Theme.sizeSmall
                color: Theme.text
            }
        }
    }
    Text {
        objectName: "kvMapOfAnother"
        Layout.fillWidth: true
        visible: map.columns > 0 && root.monitor.ofAnother
        text: qsTr("These are the blocks of the conversation that was computed last, not of this one.")
        textFormat: Text.PlainText
        wrapMode: Text.Wrap
        font.pixelSize: Theme.sizeSmall
        color: Theme.textMuted
    }
    Text {
        Layout.fillWidth: true
        visible: map.columns > 0
        text: qsTr("%n token(s) to a block; point at one to see whose it is", "", map.blockTokens)
        textFormat: Text.PlainText
        wrapMode: Text.Wrap
        font.pixelSize: Theme.sizeSmall
        color: Theme.textMuted
    }
    Text {
        objectName: "stateNote"
        Layout.fillWidth: true
        visible: root.hasStates
        text: qsTr("At the left: what %n layer(s) keep however long the conversation is, %1 in all", "", map.statesOnDevice + map.statesOnHost).arg(Format.bytes(map.stateBytes))
        textFormat: Text.PlainText
        wrapMode: Text.Wrap
        font.pixelSize: Theme.sizeSmall
        color: Theme.textMuted
    }
    Text {
        objectName: "nextToLeave"
        Layout.fillWidth: true
        visible: root.chat.pins.possible && map.nextToLeave >= 0
        text: qsTr("Next to leave: tokens %1–%2; pinned ones last").arg(Format.count(map.nextToLeave * map.blockTokens)).arg(Format.count((map.nextToLeave + 1) * map.blockTokens - 1))
        textFormat: Text.PlainText
        wrapMode: Text.Wrap
        font.pixelSize: Theme.sizeSmall
        color: Theme.textMuted
    }
    ActionButton {
        readonly property bool pinned: root.pinned.indexOf("system") >= 0

        objectName: "pinSystem"
        visible: root.chat.pins.possible && root.chat.context.ledger.systemTokens > 0
        implicitHeight: Theme.px(32)
        font.pixelSize: Theme.sizeSmall
        icon.source: pinned ? "qrc:/icons/pinned.svg" : "qrc:/icons/pin.svg"
        text: pinned ? qsTr("Unpin the system prompt") : qsTr("Pin the system prompt")
        onClicked: root.chat.pins.toggle("")
    }
    Legend {
        Layout.fillWidth: true
        visible: map.columns > 0
        entries: (map.windowed ? root.blocks : root.blocks.slice(0, 3)).concat(root.hasStates ? root.stateKinds : [])
    }
}
