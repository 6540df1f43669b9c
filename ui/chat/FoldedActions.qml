// Offers in a menu what can be done with an answer and has no room in the line below it.
pragma ComponentBehavior: Bound

import QtQuick
import Spillway.Ui.Components

PopupMenu {
    id: root

    required property var buttons // IconButton
    required property bool comparable // there are other versions
    required property Item opener // the button of this menu

    signal compareRequested

    // Gives the keyboard back first, so that an action leads it on as that of a button in the line does. When the menu
    // closes, the message may be gone, and the keyboard with it.
    function leave() {
        opener.forceActiveFocus(Qt.PopupFocusReason);
    }

    Instantiator {
        model: root.buttons
        delegate: PopupMenuItem {
            required property var modelData

            objectName: "folded_" + modelData.objectName
            text: modelData.name
            icon.source: modelData.source
            enabled: modelData.enabled
            onTriggered: {
                root.leave();
                modelData.clicked();
            }
        }
        onObjectAdded: (index, item) => root.insertItem(index, item as PopupMenuItem)
        onObjectRemoved: (index, item) => root.removeItem(item as PopupMenuItem)
    }
    PopupMenuItem {
        objectName: "folded_compare"
        visible: root.comparable
        enabled: visible
        text: qsTr("Compare the versions side by side")
        icon.source: "qrc:/icons/columns.svg"
        onTriggered: {
            root.leave();
            root.compareRequested();
        }
    }
}
