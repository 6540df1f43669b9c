// Offers in a menu what can be done with an answer and has no room in the line below it.
import QtQuick
import Spillway.Ui.Components

PopupMenu {
    id: root

    required property var buttons // IconButton
    required property bool comparable // there are other versions

    signal compareRequested

    Instantiator {
        model: root.buttons
        delegate: PopupMenuItem {
            required property var modelData

            objectName: "folded_" + modelData.objectName
            text: modelData.name
            icon.source: modelData.source
            enabled: modelData.enabled
            onTriggered: modelData.clicked()
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
        onTriggered: root.compareRequested()
    }
}
