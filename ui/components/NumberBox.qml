// Takes a whole number, typed or stepped. Zero may have a word of its own.
import QtQuick
import QtQuick.Controls
import Spillway.Ui.Theme

SpinBox {
    id: root

    required property string name // read aloud
    property string zeroText: ""
    property string suffix: ""
    property bool plain: false // a number that counts nothing, such as a port

    implicitHeight: Theme.controlHeight
    implicitWidth: Theme.px(200)
    leftPadding: Theme.controlHeight
    rightPadding: Theme.controlHeight
    font.pixelSize: Theme.sizeBody
    editable: true

    Accessible.role: Accessible.SpinBox
    Accessible.name: root.name

    textFromValue: (value, locale) => value === 0 && zeroText !== "" ? zeroText
                                                                     : plain ? String(value) : Number(value).toLocaleString(locale, "f", 0) + suffix
    // Ignores separators of thousands and all after a decimal point: "2.5" is 2, not 25.
    valueFromText: (text, locale) => {
        if (text === displayText)
            return value;
        const digits = text.replace(zeroText, "").split(locale.decimalPoint)[0].replace(/[^0-9]/g, "");
        return digits === "" ? 0 : Math.min(Number(digits), root.to);
    }
    validator: RegularExpressionValidator {
        regularExpression: /.{0,24}/
    }

    contentItem: TextInput {
        text: root.displayText
        font: root.font
        color: Theme.text
        selectionColor: Theme.selection
        selectedTextColor: Theme.text
        horizontalAlignment: Qt.AlignHCenter
        verticalAlignment: Qt.AlignVCenter
        readOnly: !root.editable
        validator: root.validator
        selectByMouse: true
        onActiveFocusChanged: {
            if (activeFocus)
                selectAll();
        }

        Accessible.role: Accessible.EditableText
        Accessible.name: root.name
    }
    component Step: Rectangle {
        property string sign
        property bool pressed
        property bool hovered

        width: Theme.controlHeight - 2
        height: parent ? parent.height - 2 : 0
        y: 1
        radius: Theme.radiusSmall
        color: pressed || hovered ? Theme.hover : "transparent"

        Text {
            anchors.centerIn: parent
            text: parent.sign
            textFormat: Text.PlainText
            font.pixelSize: Theme.sizeTitle
            color: Theme.textMuted
            Accessible.ignored: true
        }
    }
    down.indicator: Step {
        x: 1
        sign: "−"
        pressed: root.down.pressed
        hovered: root.down.hovered
    }
    up.indicator: Step {
        x: root.width - width - 1
        sign: "+"
        pressed: root.up.pressed
        hovered: root.up.hovered
    }
    background: Rectangle {
        radius: Theme.radiusSmall
        color: Theme.raised
        border.width: 1
        border.color: root.activeFocus ? Theme.accent : Theme.borderStrong
    }
}
