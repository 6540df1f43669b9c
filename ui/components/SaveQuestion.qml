// Whether a file may be written over: a desktop's own dialog asks that, and Qt's, which stands in for it, does not.
pragma Singleton

import QtQuick
import Spillway.App

QtObject {
    property bool needed: false // Qt's own dialog was seen

    signal asked(file: url, write: var)

    // Calls `write` at once, or when somebody has agreed.
    function before(file: url, write: var) {
        if (needed && ChosenFiles.exists(file))
            asked(file, write);
        else
            write();
    }
}
