// Shows one conversation of the list, or a folder of them.
import QtQuick
import QtQuick.Controls
import QtQuick.Layouts
import Spillway.App
import Spillway.Ui.Components
import Spillway.Ui.Theme

ItemDelegate {
    id: root

    required property int index
    required property string conversationId // empty: it is a folder
    required property string title
    required property string folder
    required property bool folderOpen
    required property int folderCount
    required property bool pinned
    required property bool current
    required property int activity
    property bool renaming: false
    property bool keyboardHere: false // the list's keys act on it
    property bool menuOpen: false

    readonly property int actionSize: Theme.px(28)
    readonly property bool actionsShown: (hovered || menuOpen) && !renaming
    readonly property bool isFolder: conversationId === ""
    readonly property bool busy: activity !== ConversationActivity.Idle
    readonly property string shownTitle: title === "" ? qsTr("New conversation") : title

    signal openRequested
    signal removeRequested
    signal menuRequested(Item item, real x, real y)
    signal renamed(string title)
    signal renameEnded

    function spokenName(): string {
        if (isFolder)
            return folderOpen ? qsTr("%1, open folder of %n conversation(s)", "", folderCount).arg(title)
                              : qsTr("%1, closed folder of %n conversation(s)", "", folderCount).arg(title);
        if (activity === ConversationActivity.Answering)
            return qsTr("%1, being answered").arg(shownTitle);
        return activity === ConversationActivity.Queued ? qsTr("%1, waiting for its turn").arg(shownTitle) : shownTitle;
    }

    implicitHeight: Theme.px(36)
    leftPadding: isFolder ? Theme.px(6) : folder !== "" ? Theme.px(26) : Theme.px(10)
    rightPadding: Theme.gapTiny + (actionsShown ? 2 * actionSize : 0)
    topPadding: 0
    bottomPadding: 0
    hoverEnabled: true
    focusPolicy: Qt.NoFocus // the list has the keyboard
    onClicked: root.openRequested()

    Accessible.role: isFolder ? Accessible.TreeItem : Accessible.ListItem
    Accessible.name: root.spokenName()
    Accessible.selected: root.current
    Accessible.focusable: true
    Accessible.onPressAction: root.openRequested()

    contentItem: RowLayout {
        spacing: Theme.gapTiny

        Picture {
            visible: root.isFolder
            source: "qrc:/icons/chevron.svg"
            size: Theme.px(14)
            rotation: root.folderOpen ? 0 : -90
            ink: Theme.textMuted
        }
        Picture {
            visible: root.isFolder
            source: "qrc:/icons/folder.svg"
            size: Theme.px(16)
            ink: Theme.textMuted
        }
        Text {
            objectName: "rowTitle"
            Layout.fillWidth: true
            Layout.fillHeight: true
            visible: !root.renaming
            text: root.shownTitle
            textFormat: Text.PlainText
            elide: Text.ElideRight
            maximumLineCount: 1
            verticalAlignment: Text.AlignVCenter
            font.pixelSize: Theme.sizeSmall + 1
            font.weight: root.current ? Font.Medium : Font.Normal
            font.italic: root.title === ""
            color: root.title === "" ? Theme.textMuted : Theme.text
            Accessible.ignored: true
        }
        RenameField {
            Layout.fillWidth: true
            visible: root.renaming
            title: root.title
            onRenamed: text => root.renamed(text)
            onEnded: root.renameEnded()
        }
        ActivityMark {
            objectName: "activityMark"
            Layout.rightMargin: Theme.gapSmall
            visible: root.busy && !root.actionsShown && !root.renaming
            activity: root.activity
        }
        Text {
            objectName: "folderCount"
            Layout.rightMargin: Theme.gapSmall
            visible: root.isFolder && !root.actionsShown && !root.renaming
            text: root.folderCount
            font.pixelSize: Theme.sizeSmall
            color: Theme.textMuted
            Accessible.ignored: true
        }
    }
    background: Rectangle {
        radius: Theme.radiusSmall
        color: root.current ? Theme.selected : root.hovered || root.menuOpen ? Theme.hover : "transparent"

        FocusRing {
            visible: root.keyboardHere
            gap: -2
        }
    }

    // Anchored, since a layout would place the buttons a frame after the pointer has come, and a quick click on the row
    // could hit the one that deletes.
    IconButton {
        id: remove

        objectName: "rowDelete"
        anchors { right: parent.right; rightMargin: Theme.gapTiny; verticalCenter: parent.verticalCenter }
        visible: root.actionsShown
        size: root.actionSize
        pictureSize: Theme.px(17)
        focusPolicy: Qt.NoFocus
        name: root.isFolder ? qsTr("Remove the folder %1").arg(root.shownTitle) : qsTr("Delete %1").arg(root.shownTitle)
        tip: root.isFolder ? qsTr("Remove the folder") : qsTr("Delete")
        source: root.isFolder ? "qrc:/icons/remove.svg" : "qrc:/icons/delete.svg"
        onClicked: root.removeRequested()
    }
    IconButton {
        objectName: "rowMore"
        anchors { right: remove.left; verticalCenter: parent.verticalCenter }
        visible: root.actionsShown
        size: root.actionSize
        pictureSize: Theme.px(17)
        focusPolicy: Qt.NoFocus
        name: qsTr("More for %1").arg(root.shownTitle)
        tip: qsTr("More")
        source: "qrc:/icons/more.svg"
        onClicked: root.menuRequested(root, root.width - 2 * width, root.height)
    }

    // A MouseArea, since with a TapHandler the row would react to every button of the mouse.
    MouseArea {
        anchors.fill: parent
        acceptedButtons: Qt.RightButton
        onClicked: mouse => root.menuRequested(root, mouse.x, mouse.y)
    }
}
