// Draws the line below the messages that the model is no longer given.
import QtQuick
import QtQuick.Layouts
import Spillway.Ui.Components
import Spillway.Ui.Theme

RowLayout {
    id: root

    required property int messages

    signal bringBackRequested

    spacing: Theme.gap

    Accessible.role: Accessible.Grouping
    Accessible.name: words.text

    Rectangle {
        Layout.fillWidth: true
        implicitHeight: 1
        color: Theme.borderStrong
    }
    Text {
        id: words

        objectName: "leftOutWords"
        Layout.fillWidth: true
        Layout.maximumWidth: Math.ceil(implicitWidth)
        horizontalAlignment: Text.AlignHCenter
        wrapMode: Text.Wrap
        text: root.messages === 1 ? qsTr("The message above is no longer given to the model")
                                  : qsTr("The %1 messages above are no longer given to the model").arg(Format.count(root.messages))
        textFormat: Text.PlainText
        font.pixelSize: Theme.sizeSmall
        color: Theme.textMuted
        Accessible.ignored: true
    }
    ActionButton {
        objectName: "bringBack"
        text: qsTr("Bring back")
        font.pixelSize: Theme.sizeSmall
        implicitHeight: Theme.px(30)
        onClicked: root.bringBackRequested()
    }
    Rectangle {
        Layout.fillWidth: true
        implicitHeight: 1
        color: Theme.borderStrong
    }
}
