// Lets a number be chosen with a slider: it takes effect when the slider is let go, or has come to rest.
import QtQuick
import QtQuick.Layouts
import Spillway.Ui.Theme

ColumnLayout {
    id: root

    required property string label
    required property real value
    property real from: 0
    property real to: 1
    property real step: 0
    property bool asking: false // the choice is not the value yet, which may take seconds

    signal chosen(real value)

    // These return the number as a text, and what it would bring; empty: not shown.
    function shown(number: real): string {
        return Format.count(number);
    }
    function foretold(number: real): string {
        return "";
    }

    Layout.fillWidth: true
    spacing: 0

    PreviewLine {
        name: root.label
        value: root.shown(slider.choosing || slider.kept ? slider.value : root.value)
    }
    Text {
        Layout.fillWidth: true
        visible: slider.choosing && text !== ""
        text: slider.choosing ? root.foretold(slider.value) : ""
        textFormat: Text.PlainText
        elide: Text.ElideRight
        font.pixelSize: Theme.px(12)
        color: Theme.textMuted
    }
    SettlingSlider {
        id: slider

        objectName: root.objectName + "Slider"
        Layout.fillWidth: true
        name: qsTr("%1: %2").arg(root.label).arg(root.shown(value))
        from: root.from
        to: root.to
        stepSize: root.step > 0 ? root.step : (root.to - root.from) / 100
        reached: Math.max(from, Math.min(to, root.value)) // within the ends, once these are known
        asking: root.asking
        onChosen: root.chosen(value)

        function changes(): bool {
            return value !== root.value;
        }
    }
}
