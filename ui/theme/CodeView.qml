// Keeps how code is shown everywhere: the user's choice, which Shell sets here.
pragma Singleton

import QtQuick
import Spillway.App

QtObject {
    id: root

    property Setting wrapping: null

    readonly property bool wrap: wrapping !== null && wrapping.value === 1 // long lines go on in the next one

    function toggle() {
        if (wrapping)
            wrapping.value = wrap ? 0 : 1;
    }
}
