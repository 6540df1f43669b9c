// Shows which run is open and which one is compared with it, with buttons to rename, export and delete it.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Layouts
import Spillway.App
import Spillway.Ui.Components
import Spillway.Ui.Theme

ColumnLayout {
    id: root

    required property ExperimentsController experiments

    readonly property var runs: experiments.runs
    readonly property experimentFacts shown: experiments.shown
    readonly property string facts: {
        const device = shown.device === "emulated" ? qsTr("emulated device, %1").arg(shown.memory)
                                                   : Format.also(shown.device, shown.memory);
        const machine = shown.cores === 0 ? shown.machine
                      : (shown.cores === 1 ? qsTr("1 core") : qsTr("%1 cores").arg(Format.count(shown.cores))) + ", " + shown.kernels;
        const all = Format.also(machine, device);
        return shown.cancelled ? Format.also(all, qsTr("cancelled")) : all;
    }
    property bool renaming: false
    property string refusal: ""
    property url saved // the file that was written last
    property string savedName: "" // shown until it is dismissed, or another run is shown
    readonly property string shownId: shown.id

    signal pictureRequested(url file)

    onShownIdChanged: {
        savedName = "";
        endRenaming(); // the typed name was for the run before
    }

    // Shows the result of an export; `sentence`: why there is no file, or empty.
    function note(file: url, sentence: string) {
        refusal = sentence;
        saved = file;
        savedName = sentence === "" ? ChosenFiles.shownName(file) : "";
    }

    function endRenaming() {
        if (field.activeFocus)
            renameButton.forceActiveFocus(Qt.OtherFocusReason); // the hidden field would keep the keyboard
        renaming = false;
    }
    function nameOf(run: experimentFacts): string {
        return qsTr("%1 – %2").arg(Format.moment(run.started)).arg(run.name);
    }

    spacing: Theme.gapSmall

    RowLayout {
        Layout.fillWidth: true
        spacing: Theme.gapSmall

        ChoiceBox {
            objectName: "runBox"
            Layout.fillWidth: true
            visible: !root.renaming
            name: qsTr("Run that is shown")
            model: root.runs.map(run => root.nameOf(run))
            chosen: root.runs.findIndex(run => run.id === root.shown.id)
            onActivated: index => root.experiments.show(root.runs[index].id)
        }
        TextLine {
            id: field

            objectName: "renameRun"
            Layout.fillWidth: true
            visible: root.renaming
            maximumLength: 200
            Accessible.name: qsTr("Name of the run")
            Keys.onShortcutOverride: event => event.accepted = event.key === Qt.Key_Escape
            Keys.onEscapePressed: root.endRenaming()
            onAccepted: {
                root.experiments.rename(root.shown.id, text);
                root.endRenaming();
            }
        }
        IconButton {
            id: renameButton

            objectName: "renameRunButton"
            name: root.renaming ? qsTr("Keep the name") : qsTr("Rename the run")
            source: root.renaming ? "qrc:/icons/check.svg" : "qrc:/icons/rename.svg"
            onClicked: {
                if (root.renaming) {
                    field.accepted();
                    return;
                }
                field.text = root.shown.name;
                root.renaming = true;
                field.forceActiveFocus(Qt.OtherFocusReason);
                field.selectAll();
            }
        }
        IconButton {
            objectName: "exportRun"
            enabled: root.experiments.rows.count > 0
            name: qsTr("Export the run")
            source: "qrc:/icons/export.svg"
            onClicked: menu.popup(this, 0, height)

            ExportMenu {
                id: menu

                objectName: "exportMenu"
                experiments: root.experiments
                onTableRequested: file => root.note(file, root.experiments.save(file))
                onPictureRequested: file => root.pictureRequested(file)
            }
        }
        IconButton {
            objectName: "deleteRun"
            enabled: !root.experiments.busy
            name: qsTr("Delete the run")
            source: "qrc:/icons/delete.svg"
            onClicked: confirm.open()
        }
    }
    RowLayout {
        Layout.fillWidth: true
        visible: root.runs.length > 1
        spacing: Theme.gapSmall

        Text {
            text: qsTr("Compare with")
            textFormat: Text.PlainText
            font.pixelSize: Theme.sizeSmall
            color: Theme.textMuted
        }
        ChoiceBox {
            id: compareBox

            readonly property var others: root.runs.filter(run => run.id !== root.shown.id)

            objectName: "compareBox"
            Layout.fillWidth: true
            name: qsTr("Run to compare with")
            model: {
                const names = others.map(run => root.nameOf(run));
                names.unshift(qsTr("nothing"));
                return names;
            }
            chosen: 1 + others.findIndex(run => run.id === root.experiments.comparedId)
            onActivated: index => root.experiments.compare(index === 0 ? "" : others[index - 1].id)
        }
    }
    Text {
        objectName: "runFacts"
        Layout.fillWidth: true
        text: root.facts
        textFormat: Text.PlainText
        wrapMode: Text.Wrap
        font.pixelSize: Theme.sizeSmall
        color: Theme.textMuted
    }
    Notice {
        objectName: "exportRefusal"
        Layout.fillWidth: true
        visible: root.refusal !== ""
        sentence: root.refusal
        onDismissRequested: root.refusal = ""
    }
    Notice {
        objectName: "exportDone"
        Layout.fillWidth: true
        visible: root.savedName !== ""
        kind: Notice.Done
        sentence: qsTr("Saved “%1”.").arg(root.savedName)
        actionText: qsTr("Show the folder")
        onActionRequested: root.experiments.showFolder(root.saved)
        onDismissRequested: root.savedName = ""
    }
    ConfirmDialog {
        id: confirm

        objectName: "confirmDeleteRun"
        question: qsTr("Delete this run?")
        detail: root.nameOf(root.shown)
        confirmText: qsTr("Delete")
        destructive: true
        onConfirmed: root.experiments.remove(root.shown.id)
    }
}
