// Asks once whether models may be looked for on the network, and says whom that contacts.
import QtQuick
import QtQuick.Layouts
import Spillway.App
import Spillway.Ui.Components
import Spillway.Ui.Theme

Rectangle {
    id: root

    required property Fetching fetching

    signal allowed

    implicitHeight: column.implicitHeight + 2 * Theme.gap
    radius: Theme.radius
    color: Theme.raised
    border.width: 1
    border.color: Theme.border

    ColumnLayout {
        id: column

        anchors.left: parent.left
        anchors.right: parent.right
        anchors.top: parent.top
        anchors.margins: Theme.gap
        spacing: Theme.gapSmall

        Text {
            objectName: "askFirstSentence"
            Layout.fillWidth: true
            text: qsTr("Finding and fetching models contacts %1 and the servers that it names for the files. Another one is contacted only where you enter its address, or one of Ollama’s names. They see this computer's network address and what is searched and fetched, and nothing of your conversations.").arg(root.fetching.host)
            textFormat: Text.PlainText
            wrapMode: Text.Wrap
            font.pixelSize: Theme.sizeBody
            lineHeight: Theme.lineHeight
            color: Theme.text
        }
        Text {
            Layout.fillWidth: true
            text: root.fetching.hasToken ? qsTr("Your token of Hugging Face is known, and is sent along to %1. You can change your mind in the settings, which also list who was contacted.").arg(root.fetching.host)
                                         : qsTr("You can change your mind in the settings, which also list who was contacted.")
            textFormat: Text.PlainText
            wrapMode: Text.Wrap
            font.pixelSize: Theme.sizeSmall
            color: Theme.textMuted
        }
        ActionButton {
            objectName: "allowNetwork"
            Layout.alignment: Qt.AlignRight
            primary: true
            text: qsTr("Use the network for this")
            onClicked: root.allowed()
        }
    }
}
