// Which programs are connected.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Layouts
import Spillway.App
import Spillway.Ui.Components
import Spillway.Ui.Theme

ColumnLayout {
    id: root

    required property ServerController server

    spacing: 2

    SectionHeading {
        Layout.fillWidth: true
        text: qsTr("Connected programs")
    }
    Text {
        objectName: "noPrograms"
        Layout.fillWidth: true
        visible: root.server.clients.length === 0
        text: qsTr("None at the moment.")
        textFormat: Text.PlainText
        font.pixelSize: Theme.sizeBody
        color: Theme.text
    }
    Repeater {
        model: root.server.clients

        RowLayout {
            id: line

            required property int index
            required property connectedProgram modelData

            readonly property string since: qsTr("since %1").arg(new Date(modelData.sinceMs).toLocaleTimeString(Format.locale, Locale.ShortFormat))
            readonly property string requests: modelData.requests === 1 ? qsTr("1 request") : qsTr("%1 requests").arg(Format.count(modelData.requests))
            readonly property string now: modelData.answered ? qsTr("is being answered") : qsTr("idle")

            objectName: "program" + index
            Layout.fillWidth: true
            Layout.minimumHeight: Theme.px(28)
            spacing: Theme.gap

            Accessible.role: Accessible.ListItem
            Accessible.name: Format.listed([modelData.client, now, requests, since])

            Text {
                Layout.fillWidth: true
                text: Format.also(line.modelData.client, line.now)
                textFormat: Text.PlainText
                elide: Text.ElideRight
                font.pixelSize: Theme.sizeBody
                color: Theme.text
                Accessible.ignored: true
            }
            Text {
                text: Format.also(line.requests, line.since)
                textFormat: Text.PlainText
                font.pixelSize: Theme.sizeSmall
                color: Theme.textMuted
                Accessible.ignored: true
            }
        }
    }
}
