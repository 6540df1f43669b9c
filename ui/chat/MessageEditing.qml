// Keeps which message is being edited, and its text and files by now: it outlives the delegate, which is destroyed when
// it is scrolled away. Changes that were neither kept nor given up are there again when the message is edited next.
import QtQuick

QtObject {
    id: root

    property string message: "" // its id; empty: none
    property string text: ""
    property var attachments: [] // its files that stay, as attachmentFacts
    property var takenIn: [] // files whose text was put into the message instead, with what it said before and after

    property string unchanged: "" // what it said
    property int brought: 0 // files that it had
    property var left: ({}) // by the message's id: what was left in the middle; of an answer that has grown since, it is old

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
    // Ends it, and keeps what was changed.
    function leave() {
        if (message === "")
            return;
        const which = message;
        const changed = text !== unchanged || attachments.length !== brought ? { unchanged, text, attachments, takenIn } : undefined;
        end();
        if (changed)
            left[which] = changed;
    }
    // Its text has just been put into the message.
    function takeIn(file: var, before: string) {
        takenIn = takenIn.concat([{ file: file, before: before, after: text }]);
        remove(file.id);
    }
    // The text was changed, by an undo where it can be redone: a file comes back when its text is taken out so, and goes
    // when that is redone.
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
    // Drops a file, which is not to go with the message, whatever is undone.
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
