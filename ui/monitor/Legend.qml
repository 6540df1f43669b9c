// Says what the colours of a chart mean, with their numbers now. A press hides a series or brings it back.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Controls
import Spillway.Ui.Components
import Spillway.Ui.Theme

Flow {
    id: root

    required property var entries // { key, name, value, color, hides, hollow }
    property var hidden: []       // keys

    signal toggled(string key)

    spacing: Theme.gapTiny

    Repeater {
        model: root.entries.length // a number: the chips are kept when their values change
        delegate: AbstractButton {
            id: chip

            required property int index
            readonly property var entry: root.entries[index] ?? { key: "", name: "", value: "", color: "transparent", hides: false }
            readonly property bool off: root.hidden.indexOf(entry.key) >= 0

            objectName: "legend_" + entry.key
            enabled: entry.hides
            padding: Theme.gapTiny
            hoverEnabled: true
            focusPolicy: entry.hides ? Qt.StrongFocus : Qt.NoFocus
            onClicked: root.toggled(entry.key)
            Keys.onReturnPressed: event => {
                if (!event.isAutoRepeat)
                    clicked();
            }
            Keys.onEnterPressed: event => {
                if (!event.isAutoRepeat)
                    clicked();
            }

            Accessible.role: entry.hides ? Accessible.CheckBox : Accessible.StaticText
            Accessible.name: entry.value === "" ? entry.name : qsTr("%1: %2").arg(entry.name).arg(entry.value)
            Accessible.checkable: entry.hides
            Accessible.checked: !chip.off
            Accessible.onPressAction: clicked()

            background: Rectangle {
                radius: Theme.px(6)
                color: chip.hovered && chip.enabled ? Theme.hover : "transparent"

                FocusRing { visible: chip.visualFocus; gap: 0 }
            }
            contentItem: Row {
                spacing: Theme.px(5)
                opacity: chip.off ? 0.45 : 1

                Rectangle {
                    anchors.verticalCenter: parent.verticalCenter
                    width: Theme.px(9)
                    height: width
                    radius: 2
                    color: chip.off || chip.entry.hollow ? "transparent" : chip.entry.color
                    border.width: chip.entry.hollow && !chip.off ? 2 : 1
                    border.color: chip.entry.color === "transparent" ? Theme.borderStrong : chip.entry.color
                }
                Text {
                    text: chip.entry.name
                    textFormat: Text.PlainText
                    font.pixelSize: Theme.sizeSmall
                    color: Theme.textMuted
                    Accessible.ignored: true
                }
                Text {
                    visible: chip.entry.value !== ""
                    text: chip.entry.value
                    textFormat: Text.PlainText
                    font.pixelSize: Theme.sizeSmall
                    font.weight: Font.Medium
                    color: Theme.text
                    Accessible.ignored: true
                }
            }
        }
    }
}
