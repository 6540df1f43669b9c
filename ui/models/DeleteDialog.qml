// Asks once before a model is deleted from the disk: what goes, and what else uses it.
import QtQuick
import Spillway.App
import Spillway.Ui.Components
import Spillway.Ui.Theme

ConfirmDialog {
    id: root

    required property ModelRemover remover

    property modelRemoval removal // kept while the dialog closes

    question: qsTr("Delete “%1” from disk?").arg(root.removal.title)
    detail: {
        // The files' names are put in last, since a name may hold “%2” itself.
        const files = Format.listed(root.removal.shownFiles);
        let text = root.removal.fileCount === 0 ? files + "."
            : root.removal.fileCount === 1 ? qsTr("%2 goes for good, %1.").arg(Format.bytes(root.removal.bytes)).arg(files)
                                           : qsTr("%n file(s) go for good, %1: %2.", "", root.removal.fileCount)
                                                 .arg(Format.bytes(root.removal.bytes)).arg(files);
        for (const note of root.removal.notes)
            text += " " + note;
        return text + " " + qsTr("Conversations with it stay.");
    }
    confirmText: qsTr("Delete")
    careful: true
    destructive: true

    onConfirmed: root.remover.confirm()

    Connections {
        target: root.remover

        function onQuestion(removal: modelRemoval) {
            root.removal = removal;
            root.open();
        }
    }
}
