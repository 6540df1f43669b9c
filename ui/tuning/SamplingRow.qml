// Lets one number be chosen: by a slider where a slider makes sense, and in a field.
import QtQuick
import QtQuick.Layouts
import Spillway.App
import Spillway.Ui.Components
import Spillway.Ui.Theme

ColumnLayout {
    id: root

    required property SamplingModel sampling

    // from the model
    required property int index
    required property string key
    required property string label
    required property string explanation
    required property var value
    required property string text
    required property string defaultText
    required property bool changed
    required property real from
    required property real sliderTo
    required property real step
    required property bool known // the open model's server knows it

    function commit() {
        refusal.text = sampling.setText(index, field.text);
        if (refusal.text === "")
            field.text = root.text;
    }

    // Shows the text, but not while the user types in the field.
    onTextChanged: {
        if (!field.activeFocus || field.text === "") {
            field.text = text;
            refusal.text = "";
        }
    }

    spacing: Theme.gapTiny
    enabled: known
    opacity: known ? 1 : 0.5

    TextMetrics {
        id: usual

        font: field.font
        text: root.defaultText
    }
    RowLayout {
        spacing: Theme.gap

        OptionLabel {
            Layout.fillWidth: true
            label: root.label
            explanation: root.known ? root.explanation : qsTr("The open model's server does not know this, so it is not sent.")
            changed: root.changed
            onResetRequested: {
                root.sampling.reset(root.index);
                field.text = root.text;
                refusal.text = "";
                field.forceActiveFocus(Qt.OtherFocusReason);
            }
        }
        TextLine {
            id: field

            objectName: root.key + "Field"
            Layout.preferredWidth: Math.max(Theme.px(104), Math.ceil(usual.advanceWidth) + leftPadding + rightPadding + 2)
            Layout.alignment: Qt.AlignTop
            horizontalAlignment: TextInput.AlignRight
            text: root.text
            placeholderText: root.defaultText
            wrong: refusal.text !== ""
            Accessible.name: root.label
            Accessible.description: qsTr("Default: %1").arg(root.defaultText)
            onEditingFinished: root.commit()
        }
    }
    ThinSlider {
        objectName: root.key + "Slider"
        Layout.fillWidth: true
        visible: root.sliderTo > root.from
        name: root.label
        from: root.from
        to: root.sliderTo
        stepSize: root.step
        value: root.value ?? root.from
        onMoved: {
            root.sampling.setValue(root.index, value);
            field.text = root.text;
            refusal.text = "";
        }
    }
    Text {
        id: refusal

        objectName: root.key + "Refusal"
        Layout.fillWidth: true
        visible: text !== ""
        textFormat: Text.PlainText
        wrapMode: Text.Wrap
        font.pixelSize: Theme.sizeSmall
        color: Theme.danger

        Accessible.role: Accessible.AlertMessage
        Accessible.name: text
    }
}
