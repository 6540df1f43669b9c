// Shows the newest lines of the log, for finding faults and reporting them.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Controls
import QtQuick.Layouts
import Spillway.App
import Spillway.Ui.Components
import Spillway.Ui.Theme

Page {
    id: root

    required property ShownLog log
    required property ProgramController program

    title: qsTr("Log")
    scrolls: false

    actions: [
        ChoiceBox {
            objectName: "logFilter"
            implicitWidth: Theme.px(170)
            name: qsTr("Show lines from this level on")
            model: [qsTr("Everything"), qsTr("Normal"), qsTr("Warnings"), qsTr("Errors")]
            chosen: root.log.lowestLevel
            onActivated: index => root.log.lowestLevel = index
        }
    ]

    Rectangle {
        Layout.fillWidth: true
        Layout.fillHeight: true
        radius: Theme.radius
        color: Theme.raised
        border.width: 1
        border.color: list.activeFocus ? Theme.accent : Theme.border

        ListView {
            id: list

            property bool pinned: true

            objectName: "logList"
            anchors.fill: parent
            anchors.margins: Theme.gapSmall
            clip: true
            boundsBehavior: Flickable.StopAtBounds
            activeFocusOnTab: true
            model: root.log
            currentIndex: -1
            onMovementStarted: pinned = false
            onMovementEnded: pinned = atYEnd
            onCountChanged: {
                if (pinned)
                    follow.start();
            }
            Component.onCompleted: positionViewAtEnd()

            Keys.onPressed: event => {
                const extend = event.modifiers & Qt.ShiftModifier;
                const from = currentIndex < 0 ? count : currentIndex;
                if (event.key === Qt.Key_Up && from > 0)
                    choose(from - 1, extend);
                else if (event.key === Qt.Key_Down && from < count - 1)
                    choose(from + 1, extend);
                else if (event.matches(StandardKey.Copy))
                    root.log.copy();
                else if (event.matches(StandardKey.SelectAll) && count > 0) {
                    root.log.select(0, false);
                    root.log.select(count - 1, true);
                } else
                    return;
                event.accepted = true;
            }

            function choose(row: int, extend: bool) {
                pinned = false;
                currentIndex = row;
                root.log.select(row, extend);
                positionViewAtIndex(row, ListView.Contain);
            }

            Accessible.role: Accessible.List
            Accessible.name: qsTr("Lines of the log")

            delegate: LogRow {
                width: list.width - Theme.px(10)
                current: list.activeFocus && list.currentIndex === index
                onChosen: extend => {
                    list.forceActiveFocus(Qt.MouseFocusReason);
                    list.choose(index, extend);
                }
            }

            ScrollBar.vertical: ThinScrollBar {}

            // Scrolls once for any number of new lines.
            Timer {
                id: follow
                interval: 0
                onTriggered: list.positionViewAtEnd()
            }
        }
        Text {
            objectName: "logEmpty"
            anchors.centerIn: parent
            visible: root.log.count === 0
            text: qsTr("Nothing of this kind has happened.")
            textFormat: Text.PlainText
            font.pixelSize: Theme.sizeBody
            color: Theme.textMuted
        }
    }
    RowLayout {
        Layout.fillWidth: true
        Layout.topMargin: Theme.gapSmall
        spacing: Theme.gapSmall

        Text {
            Layout.fillWidth: true
            text: qsTr("In %1. What is typed and answered is never in it.").arg(root.program.logFolder)
            textFormat: Text.PlainText
            wrapMode: Text.Wrap
            font.pixelSize: Theme.sizeSmall
            color: Theme.textMuted
        }
        ActionButton {
            objectName: "openLogFolder"
            text: qsTr("Open folder")
            onClicked: root.program.openLogFolder()
        }
        ActionButton {
            objectName: "copyLog"
            text: root.log.selectedCount > 0 ? qsTr("Copy selected") : qsTr("Copy all")
            icon.source: "qrc:/icons/copy.svg"
            onClicked: root.log.copy()
        }
    }
}
