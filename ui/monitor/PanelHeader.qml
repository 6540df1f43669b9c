// Shows the panel's name, and the buttons for what can be done with the panel itself.
import QtQuick
import QtQuick.Layouts
import Spillway.App
import Spillway.Ui.Components
import Spillway.Ui.Theme

RowLayout {
    id: root

    required property PressureMonitor monitor
    required property bool apart // the panel is in a window of its own

    property alias refusal: recordings.refusal // why a recording was not written

    signal closeRequested
    signal apartToggled

    spacing: 0

    Text {
        Layout.fillWidth: true
        text: qsTr("Memory pressure")
        textFormat: Text.PlainText
        elide: Text.ElideRight
        font.pixelSize: Theme.sizeBody
        font.weight: Font.DemiBold
        color: Theme.text
        Accessible.role: Accessible.Heading
        Accessible.name: text
    }
    IconButton {
        objectName: "panelMenuButton"
        name: qsTr("Recordings")
        source: "qrc:/icons/more.svg"
        size: Theme.px(32)
        pictureSize: Theme.px(18)
        onClicked: recordings.popup(this, 0, height)

        RecordingMenu {
            id: recordings

            monitor: root.monitor
        }
    }
    IconButton {
        objectName: "panelApart"
        name: root.apart ? qsTr("Put it back beside the conversation") : qsTr("Show it in a window of its own")
        source: root.apart ? "qrc:/icons/sidebar.svg" : "qrc:/icons/window.svg"
        size: Theme.px(32)
        pictureSize: Theme.px(18)
        onClicked: root.apartToggled()
    }
    IconButton {
        objectName: "panelClose"
        name: qsTr("Hide the panel")
        source: "qrc:/icons/close.svg"
        size: Theme.px(32)
        pictureSize: Theme.px(18)
        onClicked: root.closeRequested()
    }
}
