// Mends five faults of Qt 6.4's own file dialog, which is shown in the window where a desktop has none: its path has a
// white ground in every theme; when a file is saved, the field for the name does not get the keyboard, and Return does
// nothing in it; a folder without subfolders cannot be chosen while it is open; after a folder was typed with a slash
// at its end, the dialog crashes when it is opened there again; and it writes over a file without asking, so the
// question is asked here.
import QtQuick
import QtQuick.Controls
import Spillway.App
import Spillway.Ui.Components
import Spillway.Ui.Theme

Item {
    id: root

    required property Item overlay
    property var names: []   // the fields that already react to Return
    property var folders: [] // the dialogs in which the open folder can be chosen
    property var typed: []   // the dialogs in which a typed folder is handled

    function mend(item: var) {
        if (item["upButtonSpacing"] !== undefined) {
            item["background"].color = Theme.raised;
            SaveQuestion.needed = true;
            mendTyped(item["dialog"]);
            if (item["dialog"].selectedFolder !== undefined)
                mendFolders(item["dialog"]);
        }
        if (item.objectName === "fileNameTextField" && item.visible)
            mendName(item);
        for (let i = 0; i < item.children.length; ++i)
            mend(item.children[i]);
    }
    function mendTyped(dialog: var) {
        if (typed.indexOf(dialog) >= 0)
            return;
        typed.push(dialog);
        dialog.currentFolderChanged.connect(() => {
            const folder = dialog.currentFolder.toString(), bare = folder.replace(/([^/:])\/+$/, "$1");
            if (bare === folder)
                return;
            dialog.currentFolder = bare.replace(/[^/]+$/, "").replace(/([^/:])\/$/, "$1"); // the way there at once is what crashes
            dialog.currentFolder = bare;
        });
    }
    function mendFolders(dialog: var) {
        if (folders.indexOf(dialog) >= 0)
            return;
        folders.push(dialog);
        const below = dialog.contentItem.model, ready = 1; // FolderListModel.Ready
        const choose = () => {
            if (below.status === ready && below.count === 0)
                dialog.selectedFolder = dialog.currentFolder;
        };
        below.statusChanged.connect(choose);
        choose();
    }
    function mendName(field: var) {
        if (names.indexOf(field) < 0) {
            names.push(field);
            field.accepted.connect(() => Qt.callLater(root.save, field)); // later: the dialog takes the name first
        }
        field.forceActiveFocus(Qt.PopupFocusReason);
        field.selectAll();
    }
    function save(field: var) {
        for (let i = 0; i < field.parent.children.length; ++i) {
            const buttons = field.parent.children[i] as DialogButtonBox;
            buttons?.clicked(buttons.standardButton(DialogButtonBox.Open)); // the button with the text "Save"
        }
    }

    Connections {
        target: root.overlay

        function onChildrenChanged() {
            opened.start();
        }
    }
    Connections {
        target: SaveQuestion

        function onAsked(file: url, write: var, asker: Item) {
            if (asker.Window.window !== root.Window.window)
                return; // the remedy of that other window asks
            question.file = file;
            question.write = write;
            question.open();
        }
    }
    ConfirmDialog {
        id: question

        property url file
        property var write

        objectName: "replaceQuestion"
        question: qsTr("Replace “%1”?").arg(ChosenFiles.shownName(file))
        detail: qsTr("There is a file of this name already. What is in it would be lost.")
        confirmText: qsTr("Replace")
        careful: true
        destructive: true
        onConfirmed: {
            const agreed = question.write;
            agreed();
        }
    }
    // Waits, since the dialog appears in the overlay before it gives the keyboard to its list.
    Timer {
        id: opened

        interval: 0
        onTriggered: root.mend(root.overlay)
    }
}
