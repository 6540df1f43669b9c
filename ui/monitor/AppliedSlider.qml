// A slider whose choice takes effect when it is let go or has come to rest, and which stays there until the engine has
// heard of it. Esc takes back what rests.
import QtQuick
import Spillway.Ui.Components

ThinSlider {
    id: root

    required property real actual // where it stands, unless somebody is choosing
    required property bool asking // what was chosen is not begun yet, and may take seconds
    required property int restMs

    readonly property bool choosing: pressed || rest.running
    readonly property bool kept: !choosing && (asking || settling.running) // where it was chosen

    property bool keyed: false // it is a key that presses it

    signal applied

    function apply() {
        applied();
        settling.restart();
        rest.stop();
    }

    onAskingChanged: {
        if (!asking)
            settling.restart();
    }
    onPressedChanged: {
        if (pressed)
            return;
        if (keyed)
            rest.restart();
        else
            apply();
        keyed = false;
    }
    Keys.onPressed: event => {
        keyed = true;
        event.accepted = false;
    }
    Keys.onReturnPressed: apply()
    Keys.onEscapePressed: event => {
        event.accepted = rest.running;
        rest.stop();
    }

    Binding {
        target: root
        property: "value"
        value: Math.max(root.from, Math.min(root.to, root.actual)) // once they are known
        when: !root.choosing && !root.asking && !settling.running // not by `kept`, which is a moment behind
        restoreMode: Binding.RestoreNone
    }
    // Until the first frame has come that knows it.
    Timer {
        id: settling
        interval: 400
    }
    Timer {
        id: rest

        interval: root.restMs
        onTriggered: root.apply()
    }
}
