// Shows the left column: the conversations, and below them the ways to the other pages. In a narrow window it lies over
// the page until something is chosen.
import QtQuick
import QtQuick.Layouts
import Spillway.App
import Spillway.Ui.Components
import Spillway.Ui.Theme

FocusScope {
    id: root

    required property int page
    property fetchSummary fetches // what is being fetched
    default property alias content: slot.data // the conversations

    signal pageRequested(int page)

    implicitWidth: Theme.px(264)

    Accessible.role: Accessible.Pane
    Accessible.name: qsTr("Conversations and pages")

    Rectangle {
        anchors.fill: parent
        color: Theme.aside
    }
    Rectangle {
        anchors.right: parent.right
        width: 1
        height: parent.height
        color: Theme.border
    }
    ColumnLayout {
        anchors.fill: parent
        anchors.rightMargin: 1
        spacing: 0

        Item {
            id: slot

            Layout.fillWidth: true
            Layout.fillHeight: true
        }
        Rectangle {
            Layout.fillWidth: true
            Layout.preferredHeight: 1
            color: Theme.border
        }
        GridLayout {
            id: ways

            readonly property bool compact: root.height < Theme.px(440) // pictures in a row leave room for the list

            Layout.fillWidth: true
            Layout.margins: Theme.gapSmall
            columns: compact ? 6 : 1
            rowSpacing: 2
            columnSpacing: 2

            NavButton {
                objectName: "navModels"
                text: qsTr("Models")
                icon.source: "qrc:/icons/models.svg"
                compact: ways.compact
                current: root.page === PageName.Models
                mark: {
                    switch (root.fetches.state) {
                    case Fetch.Fetching: return Theme.accent;
                    case Fetch.Failed: return Theme.danger;
                    case Fetch.None: return "transparent";
                    }
                    return Theme.textMuted;
                }
                markMeans: {
                    switch (root.fetches.state) {
                    case Fetch.Fetching: return qsTr("A model is being fetched");
                    case Fetch.Failed: return qsTr("A model could not be fetched");
                    case Fetch.None: return "";
                    }
                    return qsTr("A model waits to be fetched");
                }
                onClicked: root.pageRequested(PageName.Models)
            }
            NavButton {
                objectName: "navExperiments"
                text: qsTr("Experiments")
                icon.source: "qrc:/icons/experiments.svg"
                compact: ways.compact
                current: root.page === PageName.Experiments
                onClicked: root.pageRequested(PageName.Experiments)
            }
            NavButton {
                objectName: "navLocalServer"
                text: qsTr("Local server")
                icon.source: "qrc:/icons/server.svg"
                compact: ways.compact
                current: root.page === PageName.LocalServer
                onClicked: root.pageRequested(PageName.LocalServer)
            }
            NavButton {
                objectName: "navSettings"
                text: qsTr("Settings")
                icon.source: "qrc:/icons/settings.svg"
                compact: ways.compact
                current: root.page === PageName.Settings
                onClicked: root.pageRequested(PageName.Settings)
            }
            NavButton {
                objectName: "navLog"
                text: qsTr("Log")
                icon.source: "qrc:/icons/log.svg"
                compact: ways.compact
                current: root.page === PageName.Log
                onClicked: root.pageRequested(PageName.Log)
            }
            NavButton {
                objectName: "navAbout"
                text: qsTr("About")
                icon.source: "qrc:/icons/about.svg"
                compact: ways.compact
                current: root.page === PageName.About
                onClicked: root.pageRequested(PageName.About)
            }
        }
    }
}
