// Shows the models, one under the other, and where they were looked for. The keyboard moves, opens and unfolds.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Controls
import Spillway.App
import Spillway.Ui.Components
import Spillway.Ui.Theme

ListView {
    id: root

    required property CatalogueController catalogue

    property bool byKeys: true // the keyboard moved last: only then the ring is shown
    property string unfolded: "" // the row whose details are shown, by its id

    property bool canFind: false // models can be searched for on the network

    signal openRequested(string id)
    signal findRequested(string text)
    signal addRequested
    signal removeRequested(string path)

    function currentId(): string {
        return (currentItem as ModelRow)?.entry.id ?? "";
    }
    // Brings into sight what the keyboard comes to: the current row, what is unfolded in one, or what lies below them.
    function reveal(item: Item) {
        if (item === root || item === currentItem) {
            positionViewAtIndex(currentIndex, ListView.Contain);
            return;
        }
        let up = item;
        while (up && up.parent !== contentItem)
            up = up.parent;
        if (!up)
            return;
        const top = item.mapToItem(contentItem, 0, 0).y, bottom = top + item.height;
        contentY = Math.min(Math.max(contentY, bottom + Theme.gapSmall - height), top - Theme.gapSmall);
    }
    function fold(id: string) {
        unfolded = unfolded === id ? "" : id;
    }

    model: catalogue.models
    clip: true
    boundsBehavior: Flickable.StopAtBounds
    reuseItems: true
    activeFocusOnTab: true
    currentIndex: 0
    keyNavigationEnabled: true
    highlightMoveDuration: 0
    highlightFollowsCurrentItem: true
    // Without a range the list goes to its very end with the last row, which what lies below may push out of sight.
    highlightRangeMode: ListView.ApplyRange
    preferredHighlightBegin: 0
    preferredHighlightEnd: height

    Accessible.role: Accessible.List
    Accessible.name: qsTr("Models")

    Keys.onReturnPressed: root.openRequested(root.currentId())
    Keys.onEnterPressed: root.openRequested(root.currentId())
    Keys.onSpacePressed: root.fold(root.currentId())
    Keys.onRightPressed: root.unfolded = root.currentId()
    Keys.onLeftPressed: root.unfolded = ""
    Keys.onShortcutOverride: event => event.accepted = event.key === Qt.Key_Delete
    Keys.onDeletePressed: root.catalogue.remover.ask(root.currentId())
    Keys.onPressed: event => {
        root.byKeys = true;
        const page = Math.max(1, Math.floor(root.height / Theme.px(68)) - 1);
        const jumps = { [Qt.Key_Home]: -root.count, [Qt.Key_End]: root.count, [Qt.Key_PageUp]: -page, [Qt.Key_PageDown]: page };
        const by = jumps[event.key];
        if (by === undefined)
            return;
        event.accepted = true;
        root.currentIndex = Math.max(0, Math.min(root.count - 1, root.currentIndex + by));
    }

    delegate: ModelRow {
        width: ListView.view.width - Theme.gap
        drafts: root.catalogue.drafts
        current: ListView.isCurrentItem && root.activeFocus
        ringShown: root.activeFocus && root.byKeys
        unfolded: entry.id === root.unfolded
        onChosen: {
            root.currentIndex = index;
            root.byKeys = false;
            root.forceActiveFocus(Qt.MouseFocusReason);
        }
        onFoldRequested: root.fold(entry.id)
        onOpenRequested: root.openRequested(entry.id)
        onRevealRequested: root.catalogue.reveal(entry.id)
        onCopyRequested: root.catalogue.copyPath(entry.id)
        onExpertsRequested: root.catalogue.findExpertsOnDevice(entry.id)
        onDeleteRequested: root.catalogue.remover.ask(entry.id)
    }
    bottomMargin: below.height

    // No footer: a view of Qt 6.4 cannot make one that is bound to this file.
    Column {
        id: below

        parent: root.contentItem
        y: root.originY + root.contentHeight
        width: root.width - Theme.gap

        Text {
            id: noneFound

            objectName: "noModelFound"
            width: parent.width
            topPadding: Theme.gapLarge
            bottomPadding: Theme.gapLarge
            // The model's count, since the view's may change without a signal until it is laid out.
            visible: root.catalogue.models.count === 0 && root.catalogue.models.text !== ""
            horizontalAlignment: Text.AlignHCenter
            text: qsTr("No model has “%1” in its name.").arg(root.catalogue.models.text)
            textFormat: Text.PlainText
            wrapMode: Text.Wrap
            font.pixelSize: Theme.sizeBody
            color: Theme.textMuted
        }
        ActionButton {
            objectName: "findOnHub"
            anchors.horizontalCenter: parent.horizontalCenter
            visible: noneFound.visible && root.canFind
            text: qsTr("Look for it on the hub")
            icon.source: "qrc:/icons/search.svg"
            onClicked: root.findRequested(root.catalogue.models.text)
        }
        PlacesList {
            objectName: "placesList"
            width: parent.width
            catalogue: root.catalogue
            onAddRequested: root.addRequested()
            onRemoveRequested: path => root.removeRequested(path)
        }
    }
    EnteredAnew {
        list: root
    }
    Connections {
        target: root.Window.window

        function onActiveFocusItemChanged() { root.reveal(root.Window.activeFocusItem); }
    }
    ScrollBar.vertical: ThinScrollBar {}
}
