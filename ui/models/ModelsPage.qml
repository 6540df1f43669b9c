// Lists the models of this computer with whether they fit, and opens one.
import QtQuick
import QtQuick.Dialogs
import QtQuick.Layouts
import Spillway.App
import Spillway.Ui.Components
import Spillway.Ui.Theme

Page {
    id: root

    required property CatalogueController catalogue
    required property SettingsController settings

    property fetchSummary fetches // what is being fetched

    property bool hasGuide: false
    property bool canFind: false // models can be searched for on the network
    property bool canReach: false // models of servers can be used

    signal modelOpened
    signal findRequested
    signal findWordsRequested(string text)
    signal fetchesRequested
    signal serversRequested
    signal guideRequested
    signal openFileRequested

    readonly property bool searching: catalogue.models.text !== ""
    readonly property bool tight: width < Theme.px(500) // large text in a small window: buttons have no words
    // What is above the list would leave it no room: the page scrolls, and the list is as high as what is seen of it.
    readonly property bool low: catalogue.total > 0 && height < Theme.px(300)

    function takeFocus() {
        search.forceActiveFocus(Qt.OtherFocusReason);
        search.selectAll();
    }
    function load(id: string) {
        if (id !== "" && root.catalogue.open(id))
            root.modelOpened();
    }
    function showList() {
        if (root && root.low && list.activeFocus)
            root.scrollTo(list.y);
    }
    function moveToList() {
        list.currentIndex = 0;
        list.forceActiveFocus(Qt.TabFocusReason);
    }

    title: qsTr("Models")
    scrolls: low
    actions: [
        ActionButton {
            objectName: "pageGuide"
            visible: root.hasGuide && !root.tight
            text: qsTr("Open the guide")
            onClicked: root.guideRequested()
        },
        ActionButton {
            objectName: "findModels"
            visible: root.canFind
            text: root.tight ? "" : qsTr("Find models")
            Accessible.name: qsTr("Find models")
            icon.source: "qrc:/icons/search.svg"
            onClicked: root.findRequested()
        },
        ActionButton {
            objectName: "openFile"
            visible: root.width >= Theme.px(720) // else it would leave no room for the title; the top bar has one as well
            text: qsTr("Open a file…")
            icon.source: "qrc:/icons/open.svg"
            onClicked: root.openFileRequested()
        },
        IconButton {
            objectName: "rescan"
            name: root.catalogue.scanning ? qsTr("Stop looking") : qsTr("Look again")
            source: root.catalogue.scanning ? "qrc:/icons/stop.svg" : "qrc:/icons/retry.svg"
            onClicked: root.catalogue.scanning ? root.catalogue.cancelScan() : root.catalogue.rescan()
        }
    ]

    onVisibleChanged: {
        if (visible)
            catalogue.begin();
    }
    Component.onCompleted: catalogue.begin()

    // The list brings into sight what the keyboard comes to in it, and the page the list.
    Connections {
        target: root.Window.window

        function onActiveFocusItemChanged() {
            Qt.callLater(root.showList); // qmllint disable
        }
    }
    // Measures free memory again and again while the page is shown.
    Timer {
        interval: 3000
        repeat: true
        running: root.visible
        triggeredOnStart: true
        onTriggered: root.catalogue.measure()
    }
    FolderDialog {
        id: folderDialog

        function begin() {
            currentFolder = root.settings.folderOf(SettingsController.Models);
            open();
        }

        title: qsTr("Add a folder with models")
        onAccepted: root.settings.addModelFolder(selectedFolder)
    }

    DeleteDialog {
        objectName: "deleteDialog"
        remover: root.catalogue.remover
        onClosed: list.forceActiveFocus(Qt.PopupFocusReason)
    }

    FetchesLine {
        objectName: "fetchesLine"
        Layout.fillWidth: true
        summary: root.fetches
        onClicked: root.fetchesRequested()
    }
    GridLayout {
        Layout.fillWidth: true
        visible: root.catalogue.total > 0
        columns: root.tight ? 2 : 3
        columnSpacing: Theme.gapSmall
        rowSpacing: Theme.gapSmall

        SearchField {
            id: search

            objectName: "modelSearch"
            Layout.columnSpan: root.tight ? 2 : 1
            Layout.fillWidth: true
            focus: true
            name: qsTr("Search models")
            text: root.catalogue.models.text
            onTextEdited: root.catalogue.models.text = text
            onTextChanged: root.catalogue.models.text = text
            Keys.onDownPressed: root.moveToList()
            Keys.onReturnPressed: root.moveToList()
        }
        ChoiceBar {
            objectName: "modelOrder"
            Layout.fillWidth: root.tight
            name: qsTr("Order")
            choices: [qsTr("Last used"), qsTr("Name"), qsTr("Size")]
            current: root.catalogue.models.order
            onChosen: choice => root.catalogue.models.order = choice
        }
        IconButton {
            objectName: "showServers"
            visible: root.canReach
            name: qsTr("Models of servers")
            source: "qrc:/icons/server.svg"
            onClicked: root.serversRequested()
        }
    }
    RowLayout {
        Layout.fillWidth: true
        Layout.preferredHeight: Theme.px(22)
        visible: root.catalogue.total > 0
        spacing: Theme.gapSmall

        Text {
            objectName: "modelCount"
            Layout.fillWidth: true
            text: {
                const count = root.searching ? qsTr("%1 of %2").arg(root.catalogue.models.count).arg(root.catalogue.total)
                                             : Format.models(root.catalogue.total);
                return root.catalogue.availableBytes < 0 ? count
                    : Format.also(count, qsTr("%1 of %2 memory free").arg(Format.bytes(root.catalogue.availableBytes))
                                         .arg(Format.bytes(root.catalogue.totalBytes)));
            }
            textFormat: Text.PlainText
            elide: Text.ElideRight
            font.pixelSize: Theme.sizeSmall
            color: Theme.textMuted
        }
        ProgressLine {
            objectName: "scanProgress"
            visible: root.catalogue.scanning
            indeterminate: true
            Accessible.name: qsTr("Looking for models")
        }
    }
    Notice {
        objectName: "catalogueError"
        Layout.fillWidth: true
        Layout.rightMargin: Theme.gap // aligned with the rows below
        visible: root.catalogue.error !== ""
        sentence: root.catalogue.error
        onDismissRequested: root.catalogue.dismissError()
    }
    ModelList {
        id: list

        objectName: "modelList"
        Layout.fillWidth: true
        Layout.fillHeight: !root.low
        Layout.preferredHeight: root.low ? root.height - Theme.px(68) : 0
        visible: root.catalogue.total > 0
        catalogue: root.catalogue
        canFind: root.canFind
        onYChanged: Qt.callLater(root.showList) // qmllint disable
        onOpenRequested: id => root.load(id)
        onFindRequested: text => root.findWordsRequested(text)
        onAddRequested: folderDialog.begin()
        onRemoveRequested: path => root.settings.removeModelFolder(path)
    }
    ColumnLayout {
        Layout.alignment: Qt.AlignHCenter
        Layout.fillHeight: true
        visible: root.catalogue.total === 0 && root.catalogue.scanning
        spacing: Theme.gap

        Text {
            objectName: "lookingForModels"
            text: qsTr("Looking for models…")
            textFormat: Text.PlainText
            font.pixelSize: Theme.sizeBody
            color: Theme.textMuted
        }
        ProgressLine {
            Layout.fillWidth: true
            indeterminate: true
            Accessible.name: qsTr("Looking for models")
        }
    }
    RevealingView {
        id: empty

        Layout.fillWidth: true
        Layout.fillHeight: true
        visible: root.catalogue.total === 0 && !root.catalogue.scanning
        contentHeight: none.height

        NoModels {
            id: none

            objectName: "noModels"
            width: parent.width
            height: Math.max(empty.height, implicitHeight)
            room: root.height
            hasGuide: root.hasGuide
            canFind: root.canFind
            canReach: root.canReach
            onServersRequested: root.serversRequested()
            onFindRequested: root.findRequested()
            onAddRequested: folderDialog.begin()
            onOpenFileRequested: root.openFileRequested()
        }
    }
}
