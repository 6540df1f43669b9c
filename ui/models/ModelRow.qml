// Shows one model of the list: what it is, whether it fits, and how to open it. Its details unfold below.
import QtQuick
import QtQuick.Layouts
import Spillway.App
import Spillway.Ui.Components
import Spillway.Ui.Theme

Item {
    id: root

    required property int index
    required property modelEntry entry
    required property modelFit fit
    required property real lastUsed
    required property bool isOpen
    required property string mark // tells it from another model of the same name

    property DraftModels drafts: null
    property bool current: false    // the keyboard is on it
    property bool unfolded: false
    property bool ringShown: false

    readonly property bool narrow: width < Theme.px(420) // large text in a small window

    readonly property modelFacts facts: entry.facts
    readonly property var kinds: [qsTr("Chat model"), qsTr("Base model"), qsTr("Embedding model"), qsTr("Vocabulary"),
        qsTr("Adapter"), qsTr("Projector"), qsTr("Draft model"), qsTr("Broken file")]
    readonly property string summary: {
        let parts = entry.kind === ModelKind.Chat || entry.kind === ModelKind.Broken ? "" : kinds[entry.kind];
        if (mark !== "")
            parts = parts === "" ? mark : Format.also(mark, parts);
        for (const part of [entry.silent ? qsTr("did not answer when it was asked last") : "",
                            facts.parameters > 0 ? Format.compact(facts.parameters) : "", facts.quantization,
                            entry.bytes > 0 ? Format.bytes(entry.bytes) : "",
                            facts.contextTokens > 0 ? qsTr("%1 tokens").arg(Format.count(facts.contextTokens)) : ""]) {
            if (part !== "")
                parts = Format.also(parts, part);
        }
        return parts;
    }
    readonly property string used: lastUsed > 0 ? qsTr("Used %1").arg(Format.day(lastUsed)) : ""
    readonly property string spoken: {
        let all = entry.title;
        for (const part of [summary, entry.openable ? fitLabel.words : entry.obstacle, entry.storeName,
                            isOpen ? qsTr("open") : "", used]) {
            if (part !== "")
                all += ", " + part;
        }
        return all;
    }

    signal chosen
    signal openRequested
    signal foldRequested
    signal revealRequested
    signal copyRequested
    signal expertsRequested
    signal deleteRequested

    // Loaded by its file's name: a component in this file would lose the row when the list reuses it for another model.
    onUnfoldedChanged: {
        if (unfolded)
            details.setSource("ModelDetails.qml", { row: root });
        else
            details.source = "";
    }

    implicitHeight: head.height + (unfolded ? details.implicitHeight + Theme.gap : 0) + Theme.gapTiny

    Accessible.role: Accessible.ListItem
    Accessible.name: root.spoken
    Accessible.selected: root.current
    Accessible.onPressAction: root.openRequested()

    Rectangle {
        id: card

        width: parent.width
        height: parent.height - Theme.gapTiny
        radius: Theme.radius
        color: root.unfolded ? Theme.raised : root.current || mouse.containsMouse ? Theme.hover : "transparent"
        border.width: root.unfolded ? 1 : 0
        border.color: Theme.border

        Rectangle {
            anchors.fill: parent
            visible: root.current && root.ringShown
            radius: card.radius
            color: "transparent"
            border.width: 2
            border.color: Theme.accent
        }
    }
    MouseArea {
        id: mouse

        width: parent.width
        height: head.height
        hoverEnabled: true
        onClicked: {
            root.chosen();
            root.foldRequested();
        }
        // Not where the first click was on another row, and the list has moved under the pointer since.
        onDoubleClicked: {
            if (root.current)
                root.openRequested();
        }
    }
    GridLayout {
        id: head

        x: Theme.gap
        width: parent.width - 2 * Theme.gap
        height: Math.max(Theme.px(64), root.narrow ? implicitHeight : 0)
        columnSpacing: Theme.gap
        rowSpacing: 0

        Picture {
            source: root.entry.kind === ModelKind.Broken ? "qrc:/icons/warning.svg" : root.facts.server !== "" ? "qrc:/icons/server.svg" : "qrc:/icons/models.svg"
            size: Theme.px(24)
            ink: root.isOpen ? Theme.accent : root.entry.kind === ModelKind.Broken ? Theme.warning : Theme.textMuted
            opacity: root.entry.openable || root.entry.kind === ModelKind.Broken ? 1 : 0.6
        }
        ColumnLayout {
            Layout.row: 0
            Layout.column: 1
            Layout.columnSpan: root.narrow ? 2 : 1
            Layout.fillWidth: true
            Layout.topMargin: root.narrow ? Theme.gapSmall : 0
            spacing: Theme.px(3)

            RowLayout {
                spacing: Theme.gapSmall

                Text {
                    objectName: "rowTitle"
                    Layout.fillWidth: true
                    Layout.maximumWidth: implicitWidth + 1
                    text: root.entry.title
                    textFormat: Text.PlainText
                    elide: Text.ElideMiddle
                    font.pixelSize: Theme.sizeBody
                    font.weight: Font.DemiBold
                    color: root.entry.openable ? Theme.text : Theme.textMuted
                    Accessible.ignored: true
                }
                StoreBadge {
                    name: root.entry.storeName
                }
                Item { Layout.fillWidth: true }
            }
            Text {
                objectName: "rowSummary"
                Layout.fillWidth: true
                visible: root.entry.kind !== ModelKind.Broken || !root.unfolded // the details have the whole text
                text: root.entry.kind === ModelKind.Broken ? root.entry.obstacle : root.summary
                textFormat: Text.PlainText
                wrapMode: Text.Wrap
                maximumLineCount: root.narrow ? 2 : 1
                elide: Text.ElideRight
                font.pixelSize: Theme.sizeSmall
                color: root.entry.silent ? Theme.warning : Theme.textMuted
                Accessible.ignored: true
            }
        }
        ColumnLayout {
            Layout.row: root.narrow ? 1 : 0
            Layout.column: root.narrow ? 1 : 2
            Layout.fillWidth: root.narrow
            Layout.maximumWidth: root.narrow ? root.width : -1
            Layout.bottomMargin: root.narrow ? Theme.gapSmall : 0
            spacing: Theme.px(3)

            FitLabel {
                id: fitLabel

                Layout.alignment: root.narrow ? Qt.AlignLeft : Qt.AlignRight
                fit: root.fit
            }
            Text {
                Layout.alignment: root.narrow ? Qt.AlignLeft : Qt.AlignRight
                visible: root.used !== ""
                text: root.used
                textFormat: Text.PlainText
                font.pixelSize: Theme.sizeSmall
                color: Theme.textMuted
                Accessible.ignored: true
            }
        }
        Text {
            visible: root.isOpen
            Layout.row: root.narrow ? 1 : 0
            Layout.column: root.narrow ? 2 : 3
            Layout.bottomMargin: root.narrow ? Theme.gapSmall : 0
            Layout.preferredWidth: visible ? Math.max(implicitWidth, open.implicitWidth) : 0
            horizontalAlignment: Text.AlignHCenter
            text: qsTr("Loaded", "a model that is")
            textFormat: Text.PlainText
            font.pixelSize: Theme.sizeSmall
            font.weight: Font.DemiBold
            color: Theme.accent
            Accessible.ignored: true
        }
        ActionButton {
            id: open

            objectName: "openRow"
            Layout.row: root.narrow ? 1 : 0
            Layout.column: root.narrow ? 2 : 3
            Layout.bottomMargin: root.narrow ? Theme.gapSmall : 0
            // Has its place before it is shown: otherwise a quick click on a row that the pointer has just reached
            // could hit it.
            readonly property bool shown: root.current || root.unfolded || mouse.containsMouse || hovered
            visible: root.entry.openable && !root.isOpen
            opacity: shown ? 1 : 0
            enabled: shown
            primary: root.current || root.unfolded
            focusPolicy: Qt.NoFocus // the list has the keyboard: Enter opens
            text: qsTr("Load")
            Accessible.name: qsTr("Load %1").arg(root.entry.title)
            onClicked: root.openRequested()
        }
    }
    Loader {
        id: details

        x: Theme.px(56)
        y: head.height
        width: parent.width - x - Theme.gap
    }
}
