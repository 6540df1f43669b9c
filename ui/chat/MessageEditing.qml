// Which message is being edited, and what it says by now: outlives the delegate, which goes when it is scrolled away.
import QtQuick

QtObject {
    id: root

    property string message: "" // its id; empty: none
    property string text: ""

    signal ended

    function begin(which: string, says: string) {
        text = says;
        message = which;
    }
    function end() {
        message = "";
        text = "";
        ended();
    }
}
