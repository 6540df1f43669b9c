// Shows a preset to choose.
import QtQuick
import QtQuick.Controls
import Spillway.Ui.Components
import Spillway.Ui.Theme

AbstractButton {
    id: root

    property bool current: false
    property bool changed: false // settings were changed after it was chosen
    required property string explanation // empty: there is none

    implicitHeight: Theme.px(32)
    implicitWidth: Math.min(implicitContentWidth + 2 * Theme.gapSmall + 4, Theme.px(220))
    hoverEnabled: true

    Accessible.role: Accessible.RadioButton
    Accessible.name: root.text
    Accessible.description: root.current && root.changed ? qsTr("chosen, and changed since") : root.explanation
    Accessible.checkable: true
    Accessible.checked: root.current
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
        color: root.current ? Qt.alpha(Theme.accent, Theme.dark ? 0.25 : 0.12) : root.hovered ? Theme.hover : Theme.raised
        border.width: 1
        border.color: root.current ? Theme.accent : Theme.border

        FocusRing { visible: root.visualFocus }
    }
    contentItem: Text {
        text: root.current && root.changed ? qsTr("%1 (changed)").arg(root.text) : root.text
        textFormat: Text.PlainText
        horizontalAlignment: Text.AlignHCenter
        verticalAlignment: Text.AlignVCenter
        elide: Text.ElideRight
        font.pixelSize: Theme.sizeSmall
        font.weight: root.current ? Font.Medium : Font.Normal
        color: Theme.text
        Accessible.ignored: true
    }

    Tip {
        visible: (root.hovered || root.visualFocus) && text !== ""
        text: root.explanation
    }
}
