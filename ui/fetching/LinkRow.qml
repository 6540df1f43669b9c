// Shows a line of a list that leads to the page of a model: its name, and facts to its right.
import QtQuick
import QtQuick.Controls
import QtQuick.Layouts
import Spillway.Ui.Components
import Spillway.Ui.Theme

Button {
    id: root

    required property string title
    property string summary: ""
    property string fact: "" // shown at the right edge
    property color factInk: Theme.textMuted

    readonly property bool narrow: width < Theme.px(420) // large text in a small window

    implicitHeight: Math.max(Theme.px(52), implicitContentHeight + topPadding + bottomPadding)
    leftPadding: Theme.gap
    rightPadding: Theme.gap
    topPadding: Theme.gapSmall
    bottomPadding: Theme.gapSmall
    hoverEnabled: true
    opacity: enabled ? 1 : 0.6

    Accessible.name: Format.listed([root.title, root.summary, root.fact])
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
        radius: Theme.radius
        color: root.hovered || root.down ? Theme.hover : "transparent"

        FocusRing { visible: root.visualFocus }
    }
    contentItem: GridLayout {
        columns: root.narrow ? 1 : 2
        columnSpacing: Theme.gap
        rowSpacing: 2

        ColumnLayout {
            Layout.fillWidth: true
            spacing: 2

            Text {
                Layout.fillWidth: true
                text: root.title
                textFormat: Text.PlainText
                elide: Text.ElideMiddle
                font.pixelSize: Theme.sizeBody
                font.weight: Font.Medium
                color: Theme.text
                Accessible.ignored: true
            }
            Text {
                Layout.fillWidth: true
                visible: text !== ""
                text: root.summary
                textFormat: Text.PlainText
                wrapMode: Text.Wrap
                font.pixelSize: Theme.sizeSmall
                color: Theme.textMuted
                Accessible.ignored: true
            }
        }
        Text {
            Layout.fillWidth: root.narrow
            visible: text !== ""
            text: root.fact
            textFormat: Text.PlainText
            wrapMode: Text.Wrap
            font.pixelSize: Theme.sizeSmall
            color: root.factInk
            Accessible.ignored: true
        }
    }
}
