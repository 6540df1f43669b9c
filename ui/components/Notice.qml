// Shows a sentence for the user (an error, a warning, or that something is done), and buttons to react to it.
import QtQuick
import QtQuick.Layouts
import Spillway.Ui.Theme

Rectangle {
    id: root

    enum Kind { Warning, Error, Done }

    required property string sentence
    property int kind: Notice.Error
    property string actionText: ""
    property bool actionPrimary: false
    property bool dismissible: true

    // Whether the buttons lie below the sentence, since beside it they would leave it too little room.
    readonly property bool narrow: actionText !== "" && width - action.implicitWidth - dismiss.implicitWidth < Theme.px(240)
    readonly property color ink: kind === Notice.Error ? Theme.danger : kind === Notice.Done ? Theme.accent : Theme.warning

    signal actionRequested
    signal dismissRequested

    implicitHeight: row.implicitHeight + 2 * Theme.gapSmall
    radius: Theme.radius
    color: kind === Notice.Error ? Theme.dangerGround : kind === Notice.Done ? Theme.raised : Theme.warningGround
    border.width: 1
    border.color: Qt.alpha(ink, 0.35)

    Accessible.role: Accessible.AlertMessage
    Accessible.name: root.sentence

    GridLayout {
        id: row

        anchors.fill: parent
        anchors.leftMargin: Theme.gap
        anchors.rightMargin: Theme.gapSmall
        anchors.topMargin: Theme.gapSmall
        anchors.bottomMargin: Theme.gapSmall
        columns: root.narrow ? 1 : 2
        columnSpacing: Theme.gapSmall
        rowSpacing: Theme.gapSmall

        Text {
            objectName: "noticeSentence"
            Layout.fillWidth: true
            text: root.sentence
            textFormat: Text.PlainText
            wrapMode: Text.Wrap
            font.pixelSize: Theme.sizeBody
            color: Theme.text
            Accessible.ignored: true
        }
        RowLayout {
            Layout.fillWidth: root.narrow
            Layout.fillHeight: false
            visible: root.actionText !== "" || root.dismissible
            spacing: Theme.gapSmall

            WrappingButton {
                id: action

                objectName: "noticeAction"
                visible: root.actionText !== ""
                room: root.width - Theme.gap - Theme.gapSmall - (root.dismissible ? dismiss.implicitWidth + Theme.gapSmall : 0)
                primary: root.actionPrimary
                text: root.actionText
                onClicked: root.actionRequested()
            }
            Item {
                Layout.fillWidth: true
                visible: root.narrow
            }
            IconButton {
                id: dismiss

                objectName: "noticeDismiss"
                visible: root.dismissible
                name: qsTr("Dismiss")
                source: "qrc:/icons/close.svg"
                onClicked: root.dismissRequested()
            }
        }
    }
}
