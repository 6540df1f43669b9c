// Shows a part of the panel: a heading that folds it, and its contents.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Controls
import QtQuick.Layouts
import Spillway.Ui.Components
import Spillway.Ui.Theme

ColumnLayout {
    id: root

    required property string title
    property string note: "" // beside the title
    property bool folded: false
    default property alias content: body.data

    Layout.fillWidth: true
    Layout.preferredWidth: 1 // as wide as the section beside it
    Layout.alignment: Qt.AlignTop
    spacing: Theme.gapTiny

    AbstractButton {
        id: head

        Layout.fillWidth: true
        implicitHeight: Theme.px(32)
        hoverEnabled: true
        focusPolicy: Qt.StrongFocus
        onClicked: root.folded = !root.folded
        Keys.onReturnPressed: event => {
            if (!event.isAutoRepeat)
                clicked();
        }
        Keys.onEnterPressed: event => {
            if (!event.isAutoRepeat)
                clicked();
        }

        Accessible.role: Accessible.Button
        Accessible.name: root.folded ? qsTr("Show: %1").arg(root.title) : qsTr("Fold: %1").arg(root.title)
        Accessible.onPressAction: clicked()

        background: Rectangle {
            radius: Theme.px(6)
            color: head.hovered ? Theme.hover : "transparent"

            FocusRing { visible: head.visualFocus; gap: 0 }
        }
        rightPadding: Theme.px(4)
        contentItem: RowLayout {
            spacing: Theme.gapTiny

            Picture {
                source: "qrc:/icons/unfold.svg"
                size: Theme.px(14)
                ink: Theme.textMuted
                rotation: root.folded ? -90 : 0
            }
            Text {
                text: root.title
                textFormat: Text.PlainText
                font.pixelSize: Theme.sizeSmall
                font.weight: Font.DemiBold
                color: Theme.text
                Accessible.ignored: true
            }
            Text {
                Layout.fillWidth: true
                text: root.note
                textFormat: Text.PlainText
                elide: Text.ElideRight
                horizontalAlignment: Text.AlignRight
                font.pixelSize: Theme.px(12)
                color: Theme.textMuted
                Accessible.ignored: true
            }
        }
    }
    ColumnLayout {
        id: body

        Layout.fillWidth: true
        Layout.leftMargin: Theme.px(4)
        Layout.rightMargin: Theme.px(4)
        Layout.bottomMargin: Theme.gapSmall
        visible: !root.folded
        spacing: Theme.gapSmall
    }
}
