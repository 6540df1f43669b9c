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

    readonly property bool narrow: width < Theme.px(420) // large text in a small window: the line is below the buttons

    implicitHeight: Math.max(Theme.px(52), grid.implicitHeight + 2 * Theme.gapSmall)
    radius: Theme.radiusSmall
    color: Theme.sunken

    Timer {
        id: moment

        interval: 2000
        onTriggered: root.copied = false
    }
    GridLayout {
        id: grid

        anchors.fill: parent
        anchors.leftMargin: Theme.gap
        anchors.rightMargin: Theme.gapSmall
        columnSpacing: Theme.gapSmall
        rowSpacing: 0

        Text {
            Layout.fillWidth: true
            Layout.alignment: root.narrow ? Qt.AlignVCenter : Qt.AlignBottom
            text: root.title
            textFormat: Text.PlainText
            elide: Text.ElideRight
            font.pixelSize: Theme.sizeSmall
            color: Theme.textMuted
            Accessible.ignored: true
        }
        Text {
            objectName: "line"
            Layout.row: 1
            Layout.column: 0
            Layout.columnSpan: root.narrow ? 3 : 1
            Layout.fillWidth: true
            Layout.alignment: Qt.AlignTop
            text: root.line
            textFormat: Text.PlainText
            wrapMode: Text.WrapAnywhere
            font.pixelSize: Theme.sizeCode
            font.family: Theme.monospace
            color: Theme.text
            Accessible.role: Accessible.StaticText
            Accessible.name: root.title + ": " + root.line // joined without arg(): these texts may hold “%2”
        }
        RowLayout {
            id: slot

            Layout.row: 0
            Layout.column: 1
            Layout.rowSpan: root.narrow ? 1 : 2
            Layout.fillWidth: false
            spacing: Theme.gapTiny
        }
        IconButton {
            objectName: "copy"
            Layout.row: 0
            Layout.column: 2
            Layout.rowSpan: root.narrow ? 1 : 2
            name: root.copied ? qsTr("Copied") : root.copyName
            source: root.copied ? "qrc:/icons/check.svg" : "qrc:/icons/copy.svg"
            onClicked: root.copy()
        }
    }
}
