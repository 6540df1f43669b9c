// Shows which machines this program has contacted since it was started, and why.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Layouts
import Spillway.App
import Spillway.Ui.Components
import Spillway.Ui.Theme

ColumnLayout {
    id: root

    required property ContactedHosts contacts

    spacing: 2

    Timer {
        interval: 1000
        repeat: true
        running: root.visible
        triggeredOnStart: true
        onTriggered: root.contacts.refresh()
    }
    SectionHeading {
        Layout.fillWidth: true
        text: qsTr("Connections to other machines since the start")
    }
    Text {
        objectName: "noContacts"
        Layout.fillWidth: true
        visible: root.contacts.hosts.length === 0
        text: qsTr("None: no other machine has been contacted.")
        textFormat: Text.PlainText
        wrapMode: Text.Wrap
        font.pixelSize: Theme.sizeBody
        color: Theme.text
    }
    LayoutRepeater {
        model: root.contacts.hosts

        GridLayout {
            id: line

            required property int index
            required property contactedHost modelData

            readonly property string time: new Date(modelData.lastMs).toLocaleTimeString(Format.locale, Locale.ShortFormat)
            readonly property string numbers: qsTr("%1 received, %2 sent").arg(Format.bytes(modelData.bytesReceived)).arg(Format.bytes(modelData.bytesSent))

            objectName: "contact" + index
            Layout.fillWidth: true
            Layout.minimumHeight: Theme.px(28)
            columns: width < Theme.px(420) ? 1 : 2 // large text in a small window
            columnSpacing: Theme.gap
            rowSpacing: 0

            Accessible.role: Accessible.ListItem
            Accessible.name: Format.listed([modelData.host, modelData.purpose, numbers, time])

            Text {
                Layout.fillWidth: true
                Layout.preferredWidth: 3
                text: Format.also(line.modelData.host, line.modelData.purpose)
                textFormat: Text.PlainText
                elide: Text.ElideMiddle
                font.pixelSize: Theme.sizeBody
                color: Theme.text
                Accessible.ignored: true
            }
            Text {
                Layout.fillWidth: line.columns === 1
                text: Format.also(line.numbers, line.time)
                textFormat: Text.PlainText
                wrapMode: Text.Wrap
                font.pixelSize: Theme.sizeSmall
                color: Theme.textMuted
                Accessible.ignored: true
            }
        }
    }
}
