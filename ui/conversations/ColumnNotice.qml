// Shows a sentence at the foot of the column, with one thing that can be done about it.
import QtQuick
import QtQuick.Layouts
import Spillway.Ui.Components
import Spillway.Ui.Theme

Rectangle {
    id: root

    required property string sentence
    property string subject: "" // what it is about, on a line of its own
    property bool error: false
    property string actionText: ""
    property string actionTip: ""
    property bool dismissible: true

    signal actionRequested
    signal dismissRequested

    implicitHeight: row.implicitHeight + Theme.gapSmall
    radius: Theme.radiusSmall
    color: error ? Theme.warningGround : Theme.raised
    border.width: 1
    border.color: error ? Qt.alpha(Theme.warning, 0.35) : Theme.borderStrong

    Accessible.role: Accessible.AlertMessage
    Accessible.name: root.subject === "" ? root.sentence : qsTr("%1: %2").arg(root.sentence).arg(root.subject)

    RowLayout {
        id: row

        anchors.left: parent.left
        anchors.right: parent.right
        anchors.verticalCenter: parent.verticalCenter
        anchors.leftMargin: Theme.px(10)
        anchors.rightMargin: Theme.gapTiny
        spacing: Theme.gapTiny

        ColumnLayout {
            Layout.topMargin: Theme.gapTiny
            Layout.bottomMargin: Theme.gapTiny
            spacing: 0

            Text {
                objectName: "columnNoticeSentence"
                Layout.fillWidth: true
                text: root.sentence
                textFormat: Text.PlainText
                wrapMode: Text.Wrap
                maximumLineCount: 8
                elide: Text.ElideRight
                font.pixelSize: Theme.sizeSmall
                color: root.subject === "" ? Theme.text : Theme.textMuted
                Accessible.ignored: true
            }
            Text {
                Layout.fillWidth: true
                visible: text !== ""
                text: root.subject
                textFormat: Text.PlainText
                elide: Text.ElideRight
                font.pixelSize: Theme.sizeSmall
                color: Theme.text
                Accessible.ignored: true
            }
        }
        ActionButton {
            id: action

            objectName: "columnNoticeAction"
            visible: root.actionText !== ""
            implicitHeight: Theme.px(30)
            leftPadding: Theme.gapSmall
            rightPadding: Theme.gapSmall
            font.pixelSize: Theme.sizeSmall
            text: root.actionText
            onClicked: root.actionRequested()

            Tip {
                visible: action.hovered && root.actionTip !== ""
                text: root.actionTip
            }
        }
        IconButton {
            objectName: "columnNoticeDismiss"
            visible: root.dismissible
            size: Theme.px(28)
            pictureSize: Theme.px(16)
            name: qsTr("Dismiss")
            source: "qrc:/icons/close.svg"
            onClicked: root.dismissRequested()
        }
    }
}
