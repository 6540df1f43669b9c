// Takes the words that the user looks for.
import QtQuick
import QtQuick.Controls
import Spillway.Ui.Theme

TextField {
    id: root

    required property string name // read aloud, and shown while nothing is typed
    property string hint: ""      // the keys that lead here

    implicitHeight: Theme.controlHeight
    leftPadding: Theme.px(34)
    rightPadding: text === "" && hint !== "" ? Theme.px(52) : Theme.px(34)
    topPadding: 0
    bottomPadding: 0
    verticalAlignment: TextInput.AlignVCenter
    selectByMouse: true
    maximumLength: 400
    font.pixelSize: Theme.sizeSmall + 1
    color: Theme.text
    selectionColor: Theme.selection
    selectedTextColor: Theme.text
    placeholderText: root.name
    placeholderTextColor: Theme.textMuted

    Accessible.role: Accessible.EditableText
    Accessible.name: root.name
    Accessible.searchEdit: true

    background: Rectangle {
        radius: Theme.radiusSmall
        color: Theme.raised
        border.width: 1
        border.color: root.activeFocus ? Theme.accent : Theme.border
    }

    Picture {
        anchors.left: parent.left
        anchors.leftMargin: Theme.px(10)
        anchors.verticalCenter: parent.verticalCenter
        source: "qrc:/icons/search.svg"
        size: Theme.px(17)
    }
    Text {
        anchors.right: parent.right
        anchors.rightMargin: Theme.px(10)
        anchors.verticalCenter: parent.verticalCenter
        visible: root.text === "" && !root.activeFocus
        text: root.hint
        textFormat: Text.PlainText
        font.pixelSize: Theme.sizeSmall - 2
        color: Theme.textMuted
        Accessible.ignored: true
    }
    IconButton {
        objectName: "clearSearch"
        anchors.right: parent.right
        anchors.rightMargin: Theme.gapTiny
        anchors.verticalCenter: parent.verticalCenter
        visible: root.text !== ""
        size: Theme.px(28)
        pictureSize: Theme.px(15)
        focusPolicy: Qt.NoFocus // not by Tab: Ctrl+A and Del clear the field as well
        name: qsTr("Clear the search")
        source: "qrc:/icons/close.svg"
        onClicked: {
            root.clear();
            root.forceActiveFocus(Qt.OtherFocusReason);
        }
    }
}
