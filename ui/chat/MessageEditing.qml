// Which message is being edited, and what it says and brings by now: outlives the delegate, which goes when it is scrolled away.
import QtQuick

QtObject {
    id: root

    property string message: "" // its id; empty: none
    property string text: ""
    property var attachments: [] // its files that stay, as attachmentFacts
    property var takenIn: [] // files whose text stands in the message instead, with that text

    signal ended

    function begin(which: string, says: string, brings: var) {
        text = says;
        attachments = brings;
        takenIn = [];
        message = which;
    }
    function takeIn(file: var, text: string) {
        takenIn = takenIn.concat([{ file: file, text: text }]);
        remove(file.id);
    }
    // The text was changed, by an undo where it can be redone: a file comes back when its text is taken out so.
    function follow(now: string, undone: bool) {
        text = now;
        for (const one of takenIn) {
            const stands = now.indexOf(one.text) >= 0, listed = attachments.some(file => file.id === one.file.id);
            if (stands && listed)
                remove(one.file.id);
            else if (!stands && !listed && undone)
                attachments = attachments.concat([one.file]);
            else if (!stands && !undone)
                takenIn = takenIn.filter(other => other !== one);
        }
    }
    function remove(file: string) {
        attachments = attachments.filter(one => one.id !== file);
    }
    function end() {
        message = "";
        text = "";
        attachments = [];
        takenIn = [];
        ended();
    }
}
