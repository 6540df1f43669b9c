// Mends five faults of Qt 6.4's own file dialog, which is shown over the window where a desktop has none: its path is
// on white in every theme; when a file is saved, the field of the name does not have the keyboard, and Return there
// does nothing; a folder without subfolders cannot be chosen from within; after a folder was typed with a slash at its
// end, the dialog crashes when it is opened there again; and it lets a file be written over without a question, which
// is asked here.
import QtQuick
import QtQuick.Controls
import Spillway.App
import Spillway.Ui.Components
import Spillway.Ui.Theme

Item {
    id: root

    required property Item overlay
    property var names: []   // the fields that answer to Return
    property var folders: [] // the dialogs that choose where they are
    property var typed: []   // the dialogs whose folder may be typed

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
            field.accepted.connect(() => Qt.callLater(root.save, field)); // when the dialog has taken the name over
        }
        field.forceActiveFocus(Qt.PopupFocusReason);
        field.selectAll();
    }
    function save(field: var) {
        for (let i = 0; i < field.parent.children.length; ++i) {
            const buttons = field.parent.children[i] as DialogButtonBox;
            buttons?.clicked(buttons.standardButton(DialogButtonBox.Open)); // whose text is "Save"
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
                return; // another window's remedy asks there
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
    // The dialog comes into the overlay before it gives the keyboard to its list.
    Timer {
        id: opened

        interval: 0
        onTriggered: root.mend(root.overlay)
    }
}
