// Draws one of the program's pictures in a colour of the theme.
import QtQuick
import QtQuick.Controls
import Spillway.Ui.Theme

Button {
    id: root

    required property url source
    property int size: Theme.px(20)
    property color ink: Theme.textMuted

    implicitWidth: size
    implicitHeight: size
    padding: 0
    focusPolicy: Qt.NoFocus
    enabled: false
    background: null
    display: AbstractButton.IconOnly
    icon.source: root.source
    icon.width: root.size
    icon.height: root.size
    icon.color: root.ink

    Accessible.ignored: true
}
