// Makes a page of the middle column when it is first shown, and keeps it from then on.
import QtQuick
import Spillway.Ui.Components

Loader {
    id: root

    property bool shown: false

    function takeFocus() {
        (item as Page)?.takeFocus();
    }

    onShownChanged: {
        if (shown)
            active = true;
    }
    active: false
    focus: shown
}
