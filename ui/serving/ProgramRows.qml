// Shows which programs are connected.
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
        visible: root.server.programs.count === 0
        text: qsTr("None at the moment.")
        textFormat: Text.PlainText
        font.pixelSize: Theme.sizeBody
        color: Theme.text
    }
    RowList {
        id: list

        objectName: "programList"
        Layout.fillWidth: true
        name: qsTr("Connected programs")
        model: root.server.programs

        delegate: GridLayout {
            id: line

            required property int index
            required property string client
            required property double since
            required property int requests
            required property bool answered

            readonly property string begun: qsTr("since %1").arg(new Date(since).toLocaleTimeString(Format.locale, Locale.ShortFormat))
            readonly property string made: requests === 1 ? qsTr("1 request") : qsTr("%1 requests").arg(Format.count(requests))
            readonly property string now: answered ? qsTr("is being answered") : qsTr("idle")

            objectName: "program" + index
            width: list.rowWidth
            height: list.rowHeight
            columns: list.narrow ? 1 : 2
            columnSpacing: Theme.gap
            rowSpacing: 0

            Accessible.role: Accessible.ListItem
            Accessible.name: Format.listed([client, now, made, begun])

            Text {
                Layout.fillWidth: true
                text: Format.also(line.client, line.now)
                textFormat: Text.PlainText
                elide: Text.ElideRight
                font.pixelSize: Theme.sizeBody
                color: Theme.text
                Accessible.ignored: true
            }
            Text {
                text: Format.also(line.made, line.begun)
                textFormat: Text.PlainText
                font.pixelSize: Theme.sizeSmall
                color: Theme.textMuted
                Accessible.ignored: true
            }
        }
    }
}
