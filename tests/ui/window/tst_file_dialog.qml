// Tests Qt's own dialogs for files and folders, which the window uses where the desktop has none.
import QtQuick
import QtQuick.Controls
import QtQuick.Dialogs
import QtTest
import Spillway.Tests
import Spillway.Ui
import Spillway.Ui.Components
import ".."

Item {
    id: root

    width: 1024
    height: 640

    FileDialogRemedy {
        overlay: root.Overlay.overlay
    }

    WindowCase {
        name: "FileDialog"

        function test_return_in_the_name_saves() {
            makeWindow();
            const dialog = createTemporaryObject(saving, root);
            for (const name of ["first.json", "second.json"]) {
                const before = saves.count;
                dialog.open();
                const field = () => seen(root.Overlay.overlay, "fileNameTextField");
                tryVerify(() => field() && field().activeFocus);
                keyClick(Qt.Key_A, Qt.ControlModifier);
                type(name);
                keyClick(Qt.Key_Return);
                tryCompare(dialog, "visible", false);
                compare(saves.count, before + 1);
                verify(dialog.selectedFile.toString().endsWith(name));
            }
        }

        function test_a_file_is_not_written_over_unasked() {
            makeWindow();
            const there = Bench.file("there.json", "old").toString().replace("file://", "");
            const dialog = createTemporaryObject(writing, root), question = findChild(root, "replaceQuestion");
            const save = path => {
                dialog.open();
                const field = () => seen(root.Overlay.overlay, "fileNameTextField");
                tryVerify(() => field() && field().activeFocus);
                keyClick(Qt.Key_A, Qt.ControlModifier);
                type(path);
                keyClick(Qt.Key_Return);
                tryCompare(dialog, "visible", false);
            };
            save(there); // a whole path
            tryVerify(() => question.opened);
            compare(question.question, "Replace “there.json”?");
            compare(dialog.writes, 0);
            keyClick(Qt.Key_Return); // which alone does not agree
            tryVerify(() => !question.visible);
            compare(dialog.writes, 0);
            save(there);
            tryVerify(() => question.opened);
            click(seen(question.contentItem, "confirmAccept"));
            tryVerify(() => !question.visible);
            compare(dialog.writes, 1);
            save(there.replace("there", "new"));
            compare(dialog.writes, 2);
            verify(!question.visible);
        }

        // Where it is asked for, and not in the window behind it.
        function test_nor_from_the_panel_in_a_window_of_its_own() {
            makeWindow({ panel: true, text: "zebras graze", kvColumns: 5, device: { layers: 12, total: 8e9, weights: 4e9, kv: 1e9 } });
            openModel();
            click(part("panelApart"));
            const apart = () => findChild(shell, "panelWindow").item;
            tryVerify(() => apart() && apart().visible);
            apart().requestActivate();
            tryVerify(() => apart().active);
            const there = Bench.file("moves.csv", "old"), overlay = apart().Overlay.overlay;
            const dialog = findChild(seen(apart().contentItem, "panelGrid"), "exportEventsDialog");
            verify(dialog);
            SaveQuestion.needed = false;
            dialog.open();
            const field = () => seen(overlay, "fileNameTextField");
            tryVerify(() => field() && field().activeFocus);
            keyClick(Qt.Key_A, Qt.ControlModifier);
            type(there.toString().replace("file://", ""));
            keyClick(Qt.Key_Return);
            tryCompare(dialog, "visible", false);
            const question = findChild(apart(), "replaceQuestion");
            tryVerify(() => question && question.opened);
            verify(!findChild(root, "replaceQuestion").visible);
            compare(Bench.textOf(there), "old");
            click(seen(question.contentItem, "confirmAccept"));
            tryVerify(() => Bench.textOf(there) !== "old");
            shell.Window.window.requestActivate();
            tryVerify(() => shell.Window.active);
        }

        function test_a_folder_without_folders_can_be_chosen_from_within() {
            makeWindow();
            Bench.putModels(["models/deep/one.gguf"]);
            const deep = Bench.modelFolder("models/deep");
            const dialog = createTemporaryObject(choosing, root, { currentFolder: Bench.modelFolder("models") });
            dialog.open();
            const list = () => seen(root.Overlay.overlay, "folderDialogListView");
            tryVerify(() => list() && list().count === 1);
            mouseDoubleClickSequence(atRest(() => list().itemAtIndex(0)));
            tryVerify(() => list().count === 0 && list().model.folder === deep);
            click(buttonsIn(root.Overlay.overlay).standardButton(DialogButtonBox.Open));
            tryCompare(dialog, "visible", false);
            compare(dialog.selectedFolder, deep);
        }
        function test_a_folder_that_was_typed_with_a_slash_does_no_harm() {
            makeWindow();
            Bench.putModels(["models/deep/one.gguf"]);
            const deep = Bench.modelFolder("models/deep");
            const dialog = createTemporaryObject(opening, root, { currentFolder: Bench.modelFolder("models") });
            const list = () => seen(root.Overlay.overlay, "fileDialogListView");
            const bar = () => breadcrumbs(root.Overlay.overlay);
            for (let time = 0; time < 3; ++time) {
                dialog.currentFolder = time === 0 ? Bench.modelFolder("models") : deep; // as the program does
                dialog.open();
                tryVerify(() => list() && list().count === 1);
                wait(100);
                keyClick(Qt.Key_L, Qt.ControlModifier);
                tryVerify(() => bar().textField.visible && bar().textField.activeFocus);
                bar().textField.text = deep.toString().replace("file://", "") + "/";
                keyClick(Qt.Key_Return);
                tryVerify(() => list().count === 1 && list().itemAtIndex(0).fileName === "one.gguf");
                click(() => list().itemAtIndex(0));
                tryVerify(() => buttonsIn(root.Overlay.overlay).standardButton(DialogButtonBox.Open).enabled);
                click(buttonsIn(root.Overlay.overlay).standardButton(DialogButtonBox.Open));
                tryCompare(dialog, "visible", false);
                verify(dialog.selectedFile.toString().endsWith("/deep/one.gguf"), dialog.selectedFile);
            }
        }
        function breadcrumbs(item) {
            if (item["upButtonSpacing"] !== undefined && item.visible)
                return item;
            for (const child of Array.from(item.children)) {
                const found = breadcrumbs(child);
                if (found)
                    return found;
            }
            return null;
        }
        function buttonsIn(item) {
            if (item instanceof DialogButtonBox && item.visible)
                return item;
            for (const child of Array.from(item.children)) {
                const found = buttonsIn(child);
                if (found)
                    return found;
            }
            return null;
        }
    }

    Component {
        id: choosing

        FolderDialog {
            options: FolderDialog.DontUseNativeDialog
        }
    }
    Component {
        id: opening

        FileDialog {
            options: FileDialog.DontUseNativeDialog
        }
    }
    Component {
        id: writing

        FileDialog {
            property int writes: 0

            fileMode: FileDialog.SaveFile
            options: FileDialog.DontUseNativeDialog
            defaultSuffix: "json"
            onAccepted: SaveQuestion.before(selectedFile, () => ++writes, root)
        }
    }
    Component {
        id: saving

        FileDialog {
            id: dialog

            fileMode: FileDialog.SaveFile
            options: FileDialog.DontUseNativeDialog
            Component.onCompleted: saves.target = dialog
        }
    }
    SignalSpy {
        id: saves

        signalName: "accepted"
    }
}
