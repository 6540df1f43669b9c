// Shows what a search has found so far, or says that there is nothing yet, nothing at all, or a failure.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Layouts
import Spillway.App
import Spillway.Ui.Components
import Spillway.Ui.Theme

ColumnLayout {
    id: root

    required property ModelFinder finder

    signal chosen(string id)
    signal tokenRequested

    spacing: 2

    LayoutRepeater {
        model: root.finder.results

        LinkRow {
            required property int index
            required property string modelId
            required property real downloads
            required property bool gated

            objectName: "found" + index
            Layout.fillWidth: true
            title: modelId
            summary: gated ? qsTr("Its terms have to be accepted on the hub first") : ""
            fact: qsTr("%1 fetched it last month").arg(Format.compact(downloads))
            onClicked: root.chosen(modelId)
        }
    }
    Text {
        objectName: "noneFound"
        Layout.fillWidth: true
        Layout.topMargin: Theme.gap
        visible: root.finder.searched && root.finder.results.rowCount() === 0 && !root.finder.searching
        horizontalAlignment: Text.AlignHCenter
        text: qsTr("No model of this kind has “%1” in its name.").arg(root.finder.words)
        textFormat: Text.PlainText
        wrapMode: Text.Wrap
        font.pixelSize: Theme.sizeBody
        color: Theme.textMuted
    }
    ProgressLine {
        objectName: "searching"
        Layout.fillWidth: true
        Layout.topMargin: Theme.gap
        visible: root.finder.searching
        indeterminate: true
        Accessible.name: qsTr("Searching")
    }
    Notice {
        objectName: "searchError"
        Layout.fillWidth: true
        Layout.topMargin: Theme.gapSmall
        visible: root.finder.error !== ""
        sentence: root.finder.error
        actionText: root.finder.wantsToken ? qsTr("Enter a token") : qsTr("Try again")
        dismissible: false
        onActionRequested: root.finder.wantsToken ? root.tokenRequested() : root.finder.retry()
    }
    ActionButton {
        objectName: "moreModels"
        Layout.alignment: Qt.AlignHCenter
        Layout.topMargin: Theme.gapSmall
        visible: root.finder.hasMore && !root.finder.searching && root.finder.error === ""
        text: qsTr("More")
        Accessible.name: qsTr("More models")
        onClicked: root.finder.more()
    }
}
