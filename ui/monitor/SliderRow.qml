// Lets a number be chosen with a slider: it takes effect when the slider is let go, or has come to rest.
import QtQuick
import QtQuick.Layouts
import Spillway.Ui.Components
import Spillway.Ui.Theme

ColumnLayout {
    id: root

    required property string label
    required property real value
    property real from: 0
    property real to: 1
    property real step: 0
    property bool asking: false // what was chosen is not the value yet, and may take seconds

    readonly property bool choosing: slider.pressed || rest.running
    readonly property bool kept: !choosing && (asking || settling.running) // the slider stays where it was let go

    signal chosen(real value)

    // The number as a text, and what it would bring; empty: that is not said.
    function shown(number: real): string {
        return Format.count(number);
    }
    function foretold(number: real): string {
        return "";
    }

    function apply() {
        if (slider.value !== root.value || asking) // then another wish is on its way
            root.chosen(slider.value);
        settling.restart();
        rest.stop();
    }

    onAskingChanged: {
        if (!asking)
            settling.restart();
    }

    Layout.fillWidth: true
    spacing: 0

    PreviewLine {
        name: root.label
        value: root.shown(root.choosing || root.kept ? slider.value : root.value)
    }
    Text {
        Layout.fillWidth: true
        visible: root.choosing && text !== ""
        text: root.choosing ? root.foretold(slider.value) : ""
        textFormat: Text.PlainText
        elide: Text.ElideRight
        font.pixelSize: Theme.px(12)
        color: Theme.textMuted
    }
    ThinSlider {
        id: slider

        objectName: root.objectName + "Slider"
        Layout.fillWidth: true
        name: qsTr("%1: %2").arg(root.label).arg(root.shown(value))
        from: root.from
        to: root.to
        stepSize: root.step > 0 ? root.step : (root.to - root.from) / 100
        property bool keyed: false // it is a key that presses it

        onPressedChanged: {
            if (pressed)
                return;
            if (keyed)
                rest.restart();
            else
                root.apply();
            keyed = false;
        }
        Keys.onPressed: event => {
            keyed = true;
            event.accepted = false;
        }
        Keys.onReturnPressed: root.apply()

        Binding {
            target: slider
            property: "value"
            value: Math.max(slider.from, Math.min(slider.to, root.value)) // once they are known
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

            interval: 500
            onTriggered: root.apply()
        }
    }
}
