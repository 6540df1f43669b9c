// Asks whether a file may be written over: a desktop's own dialog asks that, and Qt's, which stands in for it, does
// not.
pragma Singleton

import QtQuick
import Spillway.App

QtObject {
    property bool needed: false // Qt's own dialog was seen

    signal asked(file: url, write: var, asker: Item)

    // Calls `write`: at once, or where a file would be overwritten after the user has agreed, who is asked in `asker`'s
    // window.
    function before(file: url, write: var, asker: Item) {
        if (needed && ChosenFiles.exists(file))
            asked(file, write, asker);
        else
            write();
    }
}
