// Lets one of several be chosen from a list.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Controls
import Spillway.Ui.Theme

ComboBox {
    id: root

    required property string name // read aloud
    property int chosen: 0

    currentIndex: chosen
    // A ComboBox goes to its first line when its model changes, even to the same lines in another language.
    onModelChanged: currentIndex = Qt.binding(() => root.chosen)

    implicitHeight: Theme.controlHeight
    implicitWidth: Theme.px(200)
    leftPadding: Theme.px(12)
    rightPadding: Theme.px(32)
    font.pixelSize: Theme.sizeBody
    hoverEnabled: true

    Accessible.role: Accessible.ComboBox
    Accessible.name: root.name
    Accessible.description: root.displayText // whole, also where the box is too narrow for it

    Tip {
        visible: (root.contentItem as Text).truncated && (root.hovered || root.visualFocus) && !root.down
        text: root.displayText
    }
    contentItem: Text {
        text: root.displayText
        textFormat: Text.PlainText
        elide: Text.ElideRight
        verticalAlignment: Text.AlignVCenter
        font: root.font
        color: Theme.text
    }
    indicator: Picture {
        x: root.width - width - Theme.px(8)
        y: (root.height - height) / 2
        source: "qrc:/icons/chevron.svg"
        size: Theme.px(18)
    }
    background: Rectangle {
        radius: Theme.radiusSmall
        color: root.hovered || root.down ? Theme.hover : Theme.raised
        border.width: 1
        border.color: Theme.borderStrong

        FocusRing { visible: root.visualFocus }
    }
    delegate: ItemDelegate {
        id: line

        required property int index
        required property string modelData

        width: ListView.view ? ListView.view.width : implicitWidth
        implicitHeight: Math.max(Theme.controlHeight, implicitContentHeight + topPadding + bottomPadding)
        highlighted: root.highlightedIndex === index
        text: modelData

        contentItem: Text {
            text: line.text
            textFormat: Text.PlainText
            wrapMode: Text.Wrap
            verticalAlignment: Text.AlignVCenter
            font.pixelSize: Theme.sizeBody
            font.weight: root.currentIndex === line.index ? Font.Medium : Font.Normal
            color: Theme.text
        }
        background: Rectangle {
            radius: Theme.px(6)
            color: line.highlighted ? Theme.hover : "transparent"
        }
    }
    popup: Popup {
        y: root.height + Theme.gapTiny
        width: root.width
        padding: Theme.gapTiny

        contentItem: ListView {
            clip: true
            implicitHeight: Math.min(contentHeight, Theme.px(300))
            model: root.popup.visible ? root.delegateModel : null
            currentIndex: root.highlightedIndex
        }
        background: Rectangle {
            radius: Theme.radiusSmall
            color: Theme.raised
            border.width: 1
            border.color: Theme.borderStrong
        }
    }
}
