// Shows one of several choices, any number of which can be chosen together.
import QtQuick
import QtQuick.Controls
import Spillway.Ui.Components
import Spillway.Ui.Theme

AbstractButton {
    id: root

    property bool chosen: false
    property string explanation: ""

    implicitHeight: Theme.px(32)
    implicitWidth: implicitContentWidth + 2 * Theme.px(12)
    hoverEnabled: true

    Accessible.role: Accessible.CheckBox
    Accessible.name: root.text
    Accessible.description: root.explanation
    Accessible.checkable: true
    Accessible.checked: root.chosen
    Accessible.onPressAction: root.clicked()
    Keys.onReturnPressed: event => {
        if (!event.isAutoRepeat)
            clicked();
    }
    Keys.onEnterPressed: event => {
        if (!event.isAutoRepeat)
            clicked();
    }

    background: Rectangle {
        radius: height / 2
        color: root.chosen ? Qt.alpha(Theme.accent, Theme.dark ? 0.25 : 0.12) : root.hovered ? Theme.hover : Theme.raised
        border.width: 1
        border.color: root.chosen ? Theme.accent : Theme.border

        FocusRing { visible: root.visualFocus }
    }
    contentItem: Text {
        text: root.text
        textFormat: Text.PlainText
        horizontalAlignment: Text.AlignHCenter
        verticalAlignment: Text.AlignVCenter
        font.pixelSize: Theme.sizeSmall
        font.weight: root.chosen ? Font.Medium : Font.Normal
        color: Theme.text
        Accessible.ignored: true
    }

    Tip {
        visible: (root.hovered || root.visualFocus) && text !== ""
        text: root.explanation
    }
}
