// Qt's own file dialog, where the desktop has none: by keyboard.
import QtQuick
import QtQuick.Controls
import QtQuick.Dialogs
import QtTest
import Spillway.Tests
import Spillway.Ui

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
            const dialog = saving.createObject(root);
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
            dialog.destroy();
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
