// Lists what moved between the memories, the newest first, with a filter and buttons that copy and save the list.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Controls
import QtQuick.Dialogs
import QtQuick.Layouts
import Spillway.App
import Spillway.Ui.Components
import Spillway.Ui.Theme

ColumnLayout {
    id: root

    required property ShownPlacementEvents events
    required property ChatController chat

    property string refusal: ""

    spacing: Theme.gapSmall

    RowLayout {
        Layout.fillWidth: true
        spacing: Theme.gapTiny

        ChoiceBox {
            objectName: "eventFilter"
            Layout.fillWidth: true
            name: qsTr("Show events of this kind")
            font.pixelSize: Theme.sizeSmall
            implicitHeight: Theme.px(30)
            model: [qsTr("All events"), qsTr("Offloads"), qsTr("Fetches"), qsTr("Moved layers"), qsTr("Lost devices"), qsTr("Saved KV"), qsTr("Warnings"), qsTr("KV types"), qsTr("Changed devices"), qsTr("What auto changes")]
            chosen: root.events.kind + 1
            onActivated: index => root.events.kind = index - 1
        }
        IconButton {
            objectName: "copyEvents"
            size: Theme.px(30)
            pictureSize: Theme.px(18)
            name: qsTr("Copy the events as CSV")
            source: "qrc:/icons/copy.svg"
            enabled: root.events.count > 0
            onClicked: root.events.copy()
        }
        IconButton {
            objectName: "exportEvents"
            size: Theme.px(30)
            pictureSize: Theme.px(18)
            name: qsTr("Save the events to a CSV file")
            source: "qrc:/icons/export.svg"
            enabled: root.events.count > 0
            onClicked: exportDialog.open()
        }
    }
    Notice {
        Layout.fillWidth: true
        visible: root.refusal !== ""
        sentence: root.refusal
        onDismissRequested: root.refusal = ""
    }
    ListView {
        id: list

        property bool pinned: true

        objectName: "eventList"
        Layout.fillWidth: true
        Layout.preferredHeight: count === 0 ? 0 : Math.min(contentHeight, Theme.px(220))
        clip: true
        boundsBehavior: Flickable.StopAtBounds
        activeFocusOnTab: count > 0
        model: root.events
        reuseItems: true
        onMovementStarted: pinned = false
        onMovementEnded: pinned = atYEnd
        onCountChanged: {
            if (pinned)
                follow.start();
        }

        Accessible.role: Accessible.List
        Accessible.name: qsTr("What moved")
        // Chooses a row. It highlights its message, as a row under the pointer does.
        function choose(row: int) {
            if (row >= 0)
                pinned = row === count - 1;
            currentIndex = row;
            root.chat.lit.pointAtMessage(currentItem ? (currentItem as EventRow).messageId : "");
        }
        currentIndex: -1
        keyNavigationEnabled: false
        highlightMoveDuration: 0
        onActiveFocusChanged: {
            if (!activeFocus)
                choose(-1);
        }
        Keys.onUpPressed: choose(Math.max(0, (currentIndex < 0 ? count : currentIndex) - 1))
        Keys.onDownPressed: choose(Math.min(count - 1, (currentIndex < 0 ? count - 2 : currentIndex) + 1))

        delegate: EventRow {
            required property int index

            width: list.width - Theme.px(10)
            chosen: list.activeFocus && ListView.isCurrentItem
            onPointedAt: message => root.chat.lit.pointAtMessage(message)
            ListView.onPooled: root.chat.lit.pointAtMessage("") // the row was scrolled away from under the pointer
            onClicked: {
                list.forceActiveFocus(Qt.MouseFocusReason);
                list.choose(index);
            }
        }
        ScrollBar.vertical: ThinScrollBar {}

        FocusRing { visible: list.activeFocus; gap: 0 }

        // Scrolls once for any number of new rows.
        Timer {
            id: follow
            interval: 0
            onTriggered: list.positionViewAtEnd()
        }
    }
    Text {
        objectName: "noEvents"
        Layout.fillWidth: true
        visible: root.events.count === 0
        text: qsTr("Nothing has moved yet.")
        textFormat: Text.PlainText
        font.pixelSize: Theme.sizeSmall
        color: Theme.textMuted
    }

    FileDialog {
        id: exportDialog

        objectName: "exportEventsDialog"
        title: qsTr("Save the events")
        fileMode: FileDialog.SaveFile
        defaultSuffix: "csv"
        nameFilters: [qsTr("CSV files (*.csv)")]
        onAccepted: SaveQuestion.before(selectedFile, () => root.refusal = root.events.save(selectedFile), root)
    }
}
