// Shows a part of the plan: its name, and beside it what can be chosen.
import QtQuick
import QtQuick.Layouts
import Spillway.Ui.Theme

GridLayout {
    id: root

    required property string label
    default property alias content: slot.data

    readonly property bool stacked: width < Theme.px(520)

    Layout.fillWidth: true
    columns: stacked ? 1 : 2
    columnSpacing: Theme.gap
    rowSpacing: Theme.gapTiny

    Text {
        Layout.preferredWidth: root.stacked ? -1 : Theme.px(104)
        Layout.alignment: Qt.AlignTop
        Layout.topMargin: root.stacked ? 0 : Theme.px(8)
        text: root.label
        textFormat: Text.PlainText
        wrapMode: Text.Wrap
        font.pixelSize: Theme.sizeSmall
        font.weight: Font.DemiBold
        color: Theme.textMuted
    }
    ColumnLayout {
        id: slot

        Layout.fillWidth: true
        spacing: Theme.gapSmall
    }
}
