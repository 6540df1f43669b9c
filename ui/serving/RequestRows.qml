// Shows the newest requests: their path, the model that answered, and their time and tokens. It does not show their
// texts.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Layouts
import Spillway.App
import Spillway.Ui.Components
import Spillway.Ui.Theme

ColumnLayout {
    id: root

    required property RequestModel requests

    spacing: 2

    SectionHeading {
        Layout.fillWidth: true
        text: qsTr("Requests")
    }
    Text {
        objectName: "noRequests"
        Layout.fillWidth: true
        visible: root.requests.count === 0
        text: qsTr("None since Spillway was started. What is asked and answered is not kept, only when and how much.")
        textFormat: Text.PlainText
        wrapMode: Text.Wrap
        font.pixelSize: Theme.sizeBody
        color: Theme.text
    }
    RowList {
        id: list

        objectName: "requestList"
        Layout.fillWidth: true
        name: qsTr("Requests")
        model: root.requests

        delegate: GridLayout {
            id: line

            required property int index
            required property double time
            required property string route
            required property string model
            required property int promptTokens
            required property int answerTokens
            required property double duration
            required property int status

            readonly property bool good: status >= 200 && status < 300
            readonly property string clock: new Date(time).toLocaleTimeString(Format.locale, "HH:mm:ss")
            readonly property string outcome: good ? "" : status === 499 ? qsTr("gave up waiting") : qsTr("refused with %1").arg(status)
            readonly property string tokens: promptTokens + answerTokens === 0 ? "" : qsTr("%1 tokens in, %2 out").arg(Format.count(promptTokens)).arg(Format.count(answerTokens))

            objectName: "request" + index
            width: list.rowWidth
            height: list.rowHeight
            columnSpacing: Theme.gap
            rowSpacing: 0

            Accessible.role: Accessible.ListItem
            Accessible.name: Format.listed([clock, route, model, outcome, tokens, Format.milliseconds(duration)])

            Text {
                Layout.row: list.narrow ? 1 : 0
                Layout.column: 0
                text: line.clock
                textFormat: Text.PlainText
                font.pixelSize: Theme.sizeSmall
                color: Theme.textMuted
                Accessible.ignored: true
            }
            Text {
                Layout.row: 0
                Layout.column: list.narrow ? 0 : 1
                Layout.columnSpan: list.narrow ? 2 : 1
                Layout.fillWidth: true
                text: line.model === "" ? line.route : Format.also(line.route, line.model)
                textFormat: Text.PlainText
                elide: Text.ElideRight
                font.pixelSize: Theme.sizeBody
                color: Theme.text
                Accessible.ignored: true
            }
            Text {
                objectName: "outcome"
                Layout.row: list.narrow ? 1 : 0
                Layout.column: list.narrow ? 1 : 2
                Layout.columnSpan: list.narrow ? 2 : 1
                Layout.fillWidth: list.narrow
                text: line.good ? line.tokens : line.outcome
                textFormat: Text.PlainText
                elide: Text.ElideRight
                font.pixelSize: Theme.sizeSmall
                color: line.good ? Theme.textMuted : Theme.danger
                Accessible.ignored: true
            }
            Text {
                Layout.row: 0
                Layout.column: list.narrow ? 2 : 3
                Layout.minimumWidth: list.narrow ? 0 : Theme.px(64)
                horizontalAlignment: Text.AlignRight
                text: Format.milliseconds(line.duration)
                textFormat: Text.PlainText
                font.pixelSize: Theme.sizeSmall
                color: Theme.textMuted
                Accessible.ignored: true
            }
        }
    }
}
