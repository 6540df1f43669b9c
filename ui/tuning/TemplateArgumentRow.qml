// Shows one argument of the model's chat template: choices where they are known, else a text.
import QtQuick
import QtQuick.Layouts
import Spillway.App
import Spillway.Ui.Components
import Spillway.Ui.Theme

ColumnLayout {
    id: root

    required property TemplateArgumentModel templateArguments

    // from the model
    required property int index
    required property string key
    required property string label
    required property string explanation
    required property var choices
    required property int current
    required property string text
    required property bool changed

    spacing: Theme.gapTiny + 2

    OptionLabel {
        Layout.fillWidth: true
        label: root.label
        explanation: root.explanation
        changed: root.changed
        onResetRequested: {
            root.templateArguments.setText(root.index, "");
            field.text = Qt.binding(() => root.text);
        }
    }
    ChoiceBar {
        objectName: root.key + "Choice"
        Layout.fillWidth: true
        visible: root.choices.length > 0
        name: root.label
        choices: root.choices
        current: root.current
        onChosen: choice => root.templateArguments.choose(root.index, choice)
    }
    TextLine {
        id: field

        objectName: root.key + "Field"
        Layout.fillWidth: true
        visible: root.choices.length === 0
        text: root.text
        placeholderText: qsTr("default")
        Accessible.name: root.label
        onEditingFinished: root.templateArguments.setText(root.index, text)
    }
}
