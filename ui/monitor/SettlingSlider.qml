// Chooses a number that the engine may take seconds to reach. The choice counts when the slider is let go, or has come to
// rest after a key; until the engine's numbers follow, the slider stays where it was let go.
import QtQuick
import Spillway.Ui.Components

ThinSlider {
    id: root

    required property real reached // the number that holds now, within the slider's ends
    required property bool asking // what was chosen is not reached yet, and may take seconds
    property int restMs: 500 // after the last key
    property bool keyed: false // it is a key that presses it

    readonly property bool choosing: pressed || rest.running
    readonly property bool kept: !choosing && (asking || settling.running) // it stays where it was let go

    signal chosen

    // Says whether choosing the slider's value would change anything.
    function changes(): bool {
        return value !== reached;
    }
    function apply() {
        if (changes() || asking) // then another wish is on its way
            chosen();
        settling.restart();
        rest.stop();
    }
    // Says whether there was a choice to give up.
    function giveUp(): bool {
        const chose = rest.running;
        rest.stop();
        return chose;
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

    Binding {
        target: root
        property: "value"
        value: root.reached
        when: !root.choosing && !root.asking && !settling.running // not by `kept`, which is a moment behind
        restoreMode: Binding.RestoreNone
    }
    // Runs until the first frame has come that knows the choice.
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
