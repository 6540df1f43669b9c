// Where one types what one looks for.
import QtQuick
import QtQuick.Controls
import Spillway.Ui.Theme

TextField {
    id: root

    required property string name // read aloud, and shown while nothing is typed

    implicitHeight: Theme.px(40)
    leftPadding: Theme.px(40)
    rightPadding: clear.visible ? Theme.px(40) : Theme.gap
    selectByMouse: true
    font.pixelSize: Theme.sizeBody
    color: Theme.text
    selectionColor: Theme.selection
    selectedTextColor: Theme.text
    placeholderText: root.name
    placeholderTextColor: Theme.textMuted

    Accessible.role: Accessible.EditableText
    Accessible.name: root.name
    Accessible.searchEdit: true

    background: Rectangle {
        radius: Theme.radius
        color: Theme.raised
        border.width: 1
        border.color: root.activeFocus ? Theme.accent : Theme.border
    }

    Picture {
        x: Theme.px(12)
        anchors.verticalCenter: parent.verticalCenter
        size: Theme.px(18)
        source: "qrc:/icons/search.svg"
    }
    IconButton {
        id: clear

        objectName: "clearSearch"
        anchors.right: parent.right
        anchors.rightMargin: Theme.gapTiny
        anchors.verticalCenter: parent.verticalCenter
        size: Theme.px(32)
        pictureSize: Theme.px(16)
        visible: root.text !== ""
        name: qsTr("Clear the search")
        source: "qrc:/icons/close.svg"
        onClicked: {
            root.clear();
            root.forceActiveFocus(Qt.OtherFocusReason);
        }
    }
}
