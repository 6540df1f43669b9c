// Switches between the versions of a message (‹ 2/3 ›), and leads to the view of all of them.
import QtQuick
import Spillway.Ui.Components
import Spillway.Ui.Theme

Row {
    id: root

    required property int version
    required property int versions
    required property bool comparable // they can be shown side by side

    signal compareRequested
    signal previousRequested
    signal nextRequested

    Accessible.role: Accessible.Grouping
    Accessible.name: qsTr("Version %1 of %2").arg(Format.count(root.version)).arg(Format.count(root.versions))

    IconButton {
        objectName: "previousVersion"
        size: Theme.px(30)
        pictureSize: Theme.px(16)
        enabled: root.version > 1
        name: qsTr("Previous version")
        shortcutText: qsTr("Alt+Left")
        source: "qrc:/icons/previous.svg"
        onClicked: root.previousRequested()
    }
    Text {
        objectName: "versionText"
        anchors.verticalCenter: parent.verticalCenter
        text: qsTr("%1/%2").arg(Format.count(root.version)).arg(Format.count(root.versions))
        textFormat: Text.PlainText
        font.pixelSize: Theme.sizeSmall
        color: Theme.textMuted
        Accessible.ignored: true
    }
    IconButton {
        objectName: "nextVersion"
        size: Theme.px(30)
        pictureSize: Theme.px(16)
        enabled: root.version < root.versions
        name: qsTr("Next version")
        shortcutText: qsTr("Alt+Right")
        source: "qrc:/icons/next.svg"
        onClicked: root.nextRequested()
    }
    IconButton {
        objectName: "compareButton"
        visible: root.comparable
        size: Theme.px(30)
        pictureSize: Theme.px(17)
        name: qsTr("Compare the versions side by side")
        source: "qrc:/icons/columns.svg"
        onClicked: root.compareRequested()
    }
}
