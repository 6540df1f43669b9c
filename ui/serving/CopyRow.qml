// Shows a line to copy into another program, with its purpose.
import QtQuick
import QtQuick.Layouts
import Spillway.Ui.Components
import Spillway.Ui.Theme

Rectangle {
    id: root

    required property string title
    required property string line
    property string copyName: qsTr("Copy: %1").arg(root.title)
    default property alias actions: slot.data // shown before the button that copies

    property bool copied: false // the line was copied a moment ago

    signal copyRequested

    function copy() {
        root.copyRequested();
        copied = true;
        moment.restart();
    }

    onLineChanged: copied = false

    implicitHeight: Theme.px(52)
    radius: Theme.radiusSmall
    color: Theme.sunken

    Timer {
        id: moment

        interval: 2000
        onTriggered: root.copied = false
    }
    RowLayout {
        anchors.fill: parent
        anchors.leftMargin: Theme.gap
        anchors.rightMargin: Theme.gapSmall
        spacing: Theme.gapSmall

        ColumnLayout {
            Layout.fillWidth: true
            spacing: 0

            Text {
                Layout.fillWidth: true
                text: root.title
                textFormat: Text.PlainText
                elide: Text.ElideRight
                font.pixelSize: Theme.sizeSmall
                color: Theme.textMuted
                Accessible.ignored: true
            }
            Text {
                objectName: "line"
                Layout.fillWidth: true
                text: root.line
                textFormat: Text.PlainText
                elide: Text.ElideMiddle
                font.pixelSize: Theme.sizeCode
                font.family: Theme.monospace
                color: Theme.text
                Accessible.role: Accessible.StaticText
                Accessible.name: root.title + ": " + root.line // joined without arg(): these texts may hold “%2”
            }
        }
        RowLayout {
            id: slot

            spacing: Theme.gapTiny
        }
        IconButton {
            objectName: "copy"
            name: root.copied ? qsTr("Copied") : root.copyName
            source: root.copied ? "qrc:/icons/check.svg" : "qrc:/icons/copy.svg"
            onClicked: root.copy()
        }
    }
}
