// Shows a sentence that wants to be read (what went wrong, is worth knowing or is done) and buttons for what can be
// done about it.
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

    RowLayout {
        id: row

        anchors.fill: parent
        anchors.leftMargin: Theme.gap
        anchors.rightMargin: Theme.gapSmall
        anchors.topMargin: Theme.gapSmall
        anchors.bottomMargin: Theme.gapSmall
        spacing: Theme.gapSmall

        Text {
            Layout.fillWidth: true
            text: root.sentence
            textFormat: Text.PlainText
            wrapMode: Text.Wrap
            font.pixelSize: Theme.sizeBody
            color: Theme.text
            Accessible.ignored: true
        }
        ActionButton {
            objectName: "noticeAction"
            visible: root.actionText !== ""
            primary: root.actionPrimary
            text: root.actionText
            onClicked: root.actionRequested()
        }
        IconButton {
            objectName: "noticeDismiss"
            visible: root.dismissible
            name: qsTr("Dismiss")
            source: "qrc:/icons/close.svg"
            onClicked: root.dismissRequested()
        }
    }
}
