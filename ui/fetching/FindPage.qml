// Shows the page that finds models on the hub: the question whether the network may be used, what is being fetched, a
// search, and the page of one model.
import QtQuick
import QtQuick.Layouts
import Spillway.App
import Spillway.Ui.Components
import Spillway.Ui.Theme

Page {
    id: root

    required property Fetching fetching

    readonly property bool inModel: fetching.page.modelId !== ""
    property real before: 0 // how far the results were scrolled when a model of them was opened

    signal modelOpened
    signal tokenRequested

    // Opens the model that a text names; other words are searched for.
    function find(text: string) {
        root.before = 0;
        root.fetching.finder.search(root.fetching.openNamed(text) ? "" : text);
        root.toTop();
    }
    // Searches as if the text were typed; a user who has not allowed the network yet is asked first.
    function lookFor(text: string) {
        root.fetching.page.close();
        search.text = text;
        if (root.fetching.allowed)
            root.find(text);
    }
    function openModel(id: string) {
        root.before = root.scrolled;
        root.fetching.page.open(id);
    }
    function takeFocus() {
        if (root.fetching.allowed && !root.inModel)
            search.forceActiveFocus(Qt.OtherFocusReason);
        else
            root.takeBackFocus();
    }

    title: root.inModel ? root.fetching.page.title : qsTr("Find models")
    backName: root.inModel ? qsTr("Back to the search") : qsTr("Back to the models")
    backShortcut: ""

    onInModelChanged: {
        if (inModel && activeFocus)
            takeBackFocus(); // what had the keyboard is hidden now
        scrollTo(inModel ? 0 : before);
    }

    AskFirst {
        objectName: "askFirst"
        Layout.fillWidth: true
        visible: !root.fetching.allowed
        fetching: root.fetching
        onAllowed: {
            root.fetching.allow();
            root.takeFocus();
            if (search.text !== "")
                root.find(search.text);
        }
    }
    FetchList {
        objectName: "fetchList"
        Layout.fillWidth: true
        visible: root.fetching.queue.count > 0
        queue: root.fetching.queue
        onOpened: root.modelOpened()
        onTokenRequested: root.tokenRequested()
    }
    RowLayout {
        Layout.fillWidth: true
        visible: root.fetching.allowed && !root.inModel
        spacing: Theme.gapSmall

        SearchField {
            id: search

            objectName: "hubSearch"
            Layout.fillWidth: true
            name: qsTr("Search %1, or enter a model’s address").arg(root.fetching.host)
            onAccepted: root.find(text)
            onTextChanged: {
                if (text === "" || root.fetching.finder.error !== "") // the error belongs to other words
                    root.fetching.finder.search("");
            }
        }
        ActionButton {
            objectName: "hubSearchButton"
            text: qsTr("Search")
            enabled: search.text.trim() !== ""
            onClicked: root.find(search.text)
        }
    }
    FoundModels {
        objectName: "foundModels"
        Layout.fillWidth: true
        visible: root.fetching.allowed && !root.inModel && root.fetching.finder.words !== ""
        finder: root.fetching.finder
        onChosen: id => root.openModel(id)
        onTokenRequested: root.tokenRequested()
    }
    FirstModelList {
        objectName: "firstModels"
        Layout.fillWidth: true
        visible: !root.inModel && root.fetching.finder.words === ""
        finder: root.fetching.finder
        enabled: root.fetching.allowed
        onChosen: id => root.openModel(id)
    }
    HubModel {
        objectName: "hubModel"
        Layout.fillWidth: true
        visible: root.inModel
        page: root.fetching.page
        host: root.fetching.host
        hasToken: root.fetching.hasToken
        onOpened: root.modelOpened()
        onTokenRequested: root.tokenRequested()
    }
}
