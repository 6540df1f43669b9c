// Shows what fills the context: a bar of its parts and their numbers, with those of the message that is being written.
import QtQuick
import QtQuick.Controls
import Spillway.App
import Spillway.Ui.Theme

Popup {
    id: root

    required property ChatController chat
    required property ComposerController composer

    width: Math.min(Theme.px(340), (Overlay.overlay?.width ?? 0) - 2 * Theme.gap)
    margins: Theme.gapSmall // keeps it within the window
    padding: Theme.gap
    focus: true
    modal: false
    closePolicy: Popup.CloseOnEscape | Popup.CloseOnPressOutsideParent // a press on what opened it closes it there

    background: Rectangle {
        color: Theme.raised
        radius: Theme.radius
        border.width: 1
        border.color: Theme.border
    }

    // Made when it is opened, since a hidden layout does not notice that lines were removed.
    contentItem: Loader {
        active: root.visible
        sourceComponent: LedgerTable {
            chat: root.chat // qmllint disable unqualified
            composer: root.composer // qmllint disable unqualified
        }
    }
}
