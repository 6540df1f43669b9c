// Shows how far the running experiment is and how long it still takes, with the button that ends it.
import QtQuick
import QtQuick.Layouts
import Spillway.App
import Spillway.Ui.Components
import Spillway.Ui.Theme

Rectangle {
    id: root

    required property ExperimentsController experiments

    readonly property string doing: {
        switch (experiments.state) {
        case ExperimentsController.Waiting: return qsTr("Waiting for the answer to end…");
        case ExperimentsController.MakingRoom: return qsTr("Making room…");
        case ExperimentsController.Cancelling: return qsTr("Ending…");
        }
        if (experiments.madeShare !== undefined)
            return Format.filled(qsTr("Making %1 of random weights: %2"), [experiments.currentModel, Format.percent(experiments.madeShare, 1)]);
        const cell = Format.filled(qsTr("%1, %2 tokens, %3"), [experiments.currentModel, Format.context(experiments.currentContext), experiments.currentStrategy]);
        return experiments.currentExperts === "" ? cell : Format.filled(qsTr("%1, experts %2"), [cell, experiments.currentExperts]);
    }
    readonly property string rowsDone: qsTr("%1 of %2 rows").arg(Format.count(experiments.done)).arg(Format.count(experiments.total))
    readonly property string remaining: experiments.remainingMs === undefined ? "" : qsTr("about %1 left").arg(Format.duration(experiments.remainingMs))

    implicitHeight: column.implicitHeight + 2 * Theme.gap
    radius: Theme.radius
    color: Theme.raised
    border.width: 1
    border.color: Theme.accent

    Timer {
        interval: 1000
        repeat: true
        running: root.visible && root.experiments.state === ExperimentsController.Measuring
        onTriggered: root.experiments.refreshProgress()
    }
    ColumnLayout {
        id: column

        anchors.left: parent.left
        anchors.right: parent.right
        anchors.top: parent.top
        anchors.margins: Theme.gap
        spacing: Theme.gapSmall

        RowLayout {
            Layout.fillWidth: true
            spacing: Theme.gapSmall

            ColumnLayout {
                Layout.fillWidth: true
                spacing: 2

                Text {
                    objectName: "runDoing"
                    Layout.fillWidth: true
                    text: root.doing
                    textFormat: Text.PlainText
                    elide: Text.ElideRight
                    font.pixelSize: Theme.sizeBody
                    font.weight: Font.Medium
                    color: Theme.text
                }
                Text {
                    objectName: "runCount"
                    Layout.fillWidth: true
                    visible: root.experiments.total > 0
                    text: root.remaining === "" ? root.rowsDone : Format.also(root.rowsDone, root.remaining)
                    textFormat: Text.PlainText
                    elide: Text.ElideRight
                    font.pixelSize: Theme.sizeSmall
                    color: Theme.textMuted
                }
            }
            ActionButton {
                objectName: "cancelExperiment"
                enabled: root.experiments.busy && root.experiments.state !== ExperimentsController.Cancelling
                text: qsTr("Cancel")
                onClicked: root.experiments.cancel()
            }
        }
        ProgressLine {
            objectName: "runBar"
            Layout.fillWidth: true
            indeterminate: root.experiments.state !== ExperimentsController.Measuring
            from: 0
            to: Math.max(1, root.experiments.total)
            value: root.experiments.done
            Accessible.name: qsTr("Rows that are measured")
        }
        Text {
            objectName: "roomNote"
            Layout.fillWidth: true
            visible: text !== ""
            text: root.experiments.roomNote
            textFormat: Text.PlainText
            wrapMode: Text.Wrap
            font.pixelSize: Theme.sizeSmall
            color: Theme.textMuted
        }
    }
}
