// Offers the models that were opened last, to open one of them again. While one is being loaded, it only offers to stop
// that.
pragma ComponentBehavior: Bound

import QtQuick
import Spillway.App
import Spillway.Ui.Components
import Spillway.Ui.Theme

PopupMenu {
    id: root

    required property ModelController models
    required property CatalogueController catalogue

    property recentModel none // an empty value
    property Item before: null // item that had the keyboard, and gets it back unless something was chosen
    readonly property bool loading: models.phase === ModelController.Loading || models.phase === ModelController.Cancelling

    signal chosen
    signal othersRequested
    signal fileRequested

    menuWidth: Theme.px(360)
    onAboutToShow: root.catalogue.lookAtRecent()
    onClosed: root.before?.forceActiveFocus(Qt.PopupFocusReason)

    PopupMenuItem {
        objectName: "cancelLoading"
        visible: root.loading
        enabled: root.models.phase === ModelController.Loading
        text: qsTr("Cancel the loading of “%1”").arg(root.models.offer.name)
        icon.source: "qrc:/icons/stop.svg"
        onTriggered: root.models.cancel()
    }
    Instantiator {
        model: root.catalogue.recent.length // a number: the lines are kept while their facts change
        delegate: RecentModelItem {
            required property int index

            objectName: "recentModel" + index
            recent: root.catalogue.recent[index] ?? root.none // the model may just have been removed
            enabled: !root.loading && recent.there
            onTriggered: {
                root.before = null;
                root.catalogue.openRecent(recent.path);
                root.chosen();
            }
        }
        onObjectAdded: (index, item) => root.insertItem(1 + index, item as RecentModelItem)
        onObjectRemoved: (index, item) => root.removeItem(item as RecentModelItem)
    }
    PopupMenuItem {
        objectName: "otherModels"
        text: qsTr("Other models…")
        icon.source: "qrc:/icons/folder.svg"
        onTriggered: {
            root.before = null;
            root.othersRequested();
        }
    }
    PopupMenuItem {
        objectName: "openFile"
        text: qsTr("Open a file…")
        icon.source: "qrc:/icons/open.svg"
        onTriggered: {
            root.before = null;
            root.fileRequested();
        }
    }
}
