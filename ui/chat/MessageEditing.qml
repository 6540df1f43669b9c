// Keeps which message is being edited, with its changed text and files, since the delegate is destroyed when it is
// scrolled away. Changes that were neither kept nor given up come back when the message is edited again.
import QtQuick

QtObject {
    id: root

    property string message: "" // its id; empty: none
    property string text: ""
    property var attachments: [] // its files that stay, as attachmentFacts
    property var takenIn: [] // files whose text was put into the message, with the message's text before and after

    property string unchanged: "" // the text before editing
    property int brought: 0 // number of files before editing
    property var left: ({}) // unfinished changes by message id; of an answer that has grown since, they are outdated

    signal ended

    function begin(which: string, says: string, brings: var) {
        if (which === message)
            return;
        leave();
        const before = left[which]?.unchanged === says ? left[which] : { text: says, attachments: brings, takenIn: [] };
        unchanged = says;
        brought = brings.length;
        text = before.text;
        attachments = before.attachments;
        takenIn = before.takenIn;
        message = which;
    }
    // Ends the editing, and keeps its changes for the next time.
    function leave() {
        if (message === "")
            return;
        const which = message;
        const changed = text !== unchanged || attachments.length !== brought ? { unchanged, text, attachments, takenIn } : undefined;
        end();
        if (changed)
            left[which] = changed;
    }
    // Notes that a file's text has just been put into the message.
    function takeIn(file: var, before: string) {
        takenIn = takenIn.concat([{ file: file, before: before, after: text }]);
        remove(file.id);
    }
    // Call it when the text was changed; `undone`: there is something to redo. A file whose text was put in comes back
    // when that is undone, and goes again when it is redone.
    function follow(now: string, undone: bool) {
        text = now;
        for (const one of takenIn) {
            const listed = attachments.some(file => file.id === one.file.id);
            if (listed && now === one.after)
                remove(one.file.id);
            else if (!listed && undone && now === one.before)
                attachments = attachments.concat([one.file]);
        }
    }
    // Drops a file for good, so that no undo brings it back.
    function drop(file: string) {
        takenIn = takenIn.filter(one => one.file.id !== file);
        remove(file);
    }
    function remove(file: string) {
        attachments = attachments.filter(one => one.id !== file);
    }
    function end() {
        delete left[message];
        message = "";
        text = "";
        attachments = [];
        takenIn = [];
        ended();
    }
}
