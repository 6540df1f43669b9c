// Keeps how code is shown wherever it is: the user's choice, which Shell brings here.
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
