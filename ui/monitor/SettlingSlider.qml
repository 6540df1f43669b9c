// Chooses a number that the engine may take seconds to reach. The choice counts when the slider is let go, or has come to
// rest after a key; until the engine's numbers follow, the slider stays where it was let go.
import QtQuick
import Spillway.Ui.Components

ThinSlider {
    id: root

    required property real reached // the number that the engine has now, within the slider's ends
    required property bool asking // the choice is not reached yet, which may take seconds
    property int restMs: 500 // time after the last key, after which the choice counts
    property bool keyed: false // it is pressed by a key

    readonly property bool choosing: pressed || rest.running
    readonly property bool kept: !choosing && (asking || settling.running) // it stays where it was let go

    signal chosen

    // Says whether choosing the slider's value would change anything.
    function changes(): bool {
        return value !== reached;
    }
    function apply() {
        if (changes() || asking) // else an earlier choice would still be carried out
            chosen();
        settling.restart();
        rest.stop();
    }
    // Gives up a choice that waits after a key. Returns whether there was one.
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
    // Esc gives up a choice that waits, and is the window's where there is none.
    Keys.onShortcutOverride: event => event.accepted = event.key === Qt.Key_Escape && rest.running
    Keys.onEscapePressed: event => event.accepted = giveUp()

    Binding {
        target: root
        property: "value"
        value: root.reached
        when: !root.choosing && !root.asking && !settling.running // not `kept`, whose binding may be evaluated later
        restoreMode: Binding.RestoreNone
    }
    // Runs until the engine's first frame with the choice has come.
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
