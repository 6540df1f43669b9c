// Shows further facts about a model below its row.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Layouts
import Spillway.App
import Spillway.Ui.Components
import Spillway.Ui.Theme

ColumnLayout {
    id: root

    objectName: "modelDetails"

    required property ModelRow row

    readonly property modelEntry entry: row.entry
    readonly property modelFit fit: row.fit
    readonly property modelFacts facts: entry.facts
    readonly property var lines: [
        [qsTr("Runs on"), facts.server],
        [qsTr("Architecture"), facts.architecture],
        [qsTr("Layers"), facts.layers > 0 ? Format.count(facts.layers) : ""],
        [qsTr("Experts"), facts.experts > 0 ? qsTr("%1, %2 used").arg(facts.experts).arg(facts.expertsUsed) : ""],
        [qsTr("KV cache per token (f16)"), facts.kvBytesPerToken > 0 ? Format.bytes(facts.kvBytesPerToken) : ""],
        [qsTr("Files"), facts.splitFiles > 1 ? Format.count(facts.splitFiles) : ""],
        [qsTr("Projector"), entry.projector],
        [qsTr("Licence"), facts.license],
        [qsTr("From"), facts.server === "" ? entry.origin : ""],
        [qsTr("Also"), entry.otherNames]
    ]

    readonly property string stateWords: {
        const state = fit.state;
        if (state.layers === 0)
            return "";
        const layers = state.besideKv ? qsTr("%n of %1 layer(s) keep a state of fixed size beside their KV", "", state.layers).arg(state.ofLayers)
                                      : qsTr("%n of %1 layer(s) keep a state of fixed size", "", state.layers).arg(state.ofLayers);
        return state.saves
            ? qsTr("%1: a conversation of %2 tokens takes %3 instead of %4.").arg(layers).arg(Format.context(state.tokens))
                  .arg(Format.bytes(state.conversationBytes)).arg(Format.bytes(state.withoutBytes))
            : qsTr("%1: %2 a conversation, however long it is.").arg(layers).arg(Format.bytes(state.bytes));
    }

    spacing: Theme.gap

    Component.onCompleted: root.row.expertsRequested()

    MemoryNeed {
        Layout.fillWidth: true
        visible: root.entry.openable && root.facts.server === ""
        fit: root.fit
    }
    DraftChoice {
        Layout.fillWidth: true
        row: root.row
    }
    Text {
        objectName: "expertsOnDevice"
        Layout.fillWidth: true
        visible: root.fit.expertsOnDevice !== undefined
        text: !visible ? "" : root.fit.expertsOnDevice >= 1 ? qsTr("Fits on the device with all experts.")
            : qsTr("Fits on the device: attention and %1 of the experts.").arg(Format.percent(root.fit.expertsOnDevice, 1))
        textFormat: Text.PlainText
        wrapMode: Text.Wrap
        font.pixelSize: Theme.sizeBody
        lineHeight: Theme.lineHeight
        color: Theme.text
    }
    Text {
        objectName: "fixedState"
        Layout.fillWidth: true
        visible: root.stateWords !== ""
        text: root.stateWords
        textFormat: Text.PlainText
        wrapMode: Text.Wrap
        font.pixelSize: Theme.sizeBody
        lineHeight: Theme.lineHeight
        color: Theme.text
    }
    GridLayout {
        Layout.fillWidth: true
        visible: root.entry.kind !== ModelKind.Broken
        columns: Math.max(1, Math.floor(root.width / Theme.px(190)))
        columnSpacing: Theme.gap
        rowSpacing: Theme.gapSmall

        LayoutRepeater {
            model: root.lines

            Fact {
                required property var modelData

                Layout.fillWidth: true
                Layout.preferredWidth: 1
                visible: modelData[1] !== ""
                label: modelData[0]
                value: modelData[1]
            }
        }
    }
    LayoutRepeater {
        model: root.entry.remarks

        Text {
            required property string modelData

            Layout.fillWidth: true
            text: modelData
            textFormat: Text.PlainText
            wrapMode: Text.Wrap
            font.pixelSize: Theme.sizeSmall
            lineHeight: Theme.lineHeight
            color: Theme.textMuted
        }
    }
    RowLayout {
        Layout.fillWidth: true
        spacing: Theme.gapTiny

        Text {
            objectName: "modelPath"
            Layout.fillWidth: true
            text: root.entry.shownPath
            textFormat: Text.PlainText
            elide: Text.ElideMiddle
            font.pixelSize: Theme.sizeSmall
            color: Theme.textMuted
        }
        IconButton {
            objectName: "copyPath"
            name: root.facts.server === "" ? qsTr("Copy the path") : qsTr("Copy what the server calls it")
            source: "qrc:/icons/copy.svg"
            onClicked: root.row.copyRequested()
        }
        IconButton {
            objectName: "reveal"
            visible: root.facts.server === ""
            name: qsTr("Show in the file manager")
            source: "qrc:/icons/folder.svg"
            onClicked: root.row.revealRequested()
        }
        IconButton {
            objectName: "deleteModel"
            visible: root.facts.server === ""
            name: qsTr("Delete from disk…")
            source: "qrc:/icons/delete.svg"
            onClicked: root.row.deleteRequested()
        }
    }
}
