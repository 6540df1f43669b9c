// Which message is being edited, and what it says and brings by now: outlives the delegate, which goes when it is scrolled away.
import QtQuick

QtObject {
    id: root

    property string message: "" // its id; empty: none
    property string text: ""
    property var attachments: [] // its files that stay, as attachmentFacts

    signal ended

    function begin(which: string, says: string, brings: var) {
        text = says;
        attachments = brings;
        message = which;
    }
    function remove(file: string) {
        attachments = attachments.filter(one => one.id !== file);
    }
    function end() {
        message = "";
        text = "";
        attachments = [];
        ended();
    }
}
