// Shows one model that is being fetched: how far it is, and what can be done about it.
import QtQuick
import QtQuick.Layouts
import Spillway.App
import Spillway.Ui.Components
import Spillway.Ui.Theme

Rectangle {
    id: root

    required property int index
    required property string name
    required property string repository
    required property int fetchState
    required property real doneBytes
    required property real totalBytes
    required property real bytesPerS
    required property bool checking
    required property bool checked
    required property string note
    required property bool wantsToken
    required property real againS
    required property real quietS
    required property FetchQueue queue

    readonly property bool goesOn: fetchState === Fetch.Fetching || fetchState === Fetch.Waiting
    readonly property string far: qsTr("%1 of %2").arg(Format.bytes(doneBytes)).arg(Format.bytes(totalBytes))
    readonly property string status: {
        switch (fetchState) {
        case Fetch.Waiting: return Format.also(qsTr("Waits"), Format.bytes(totalBytes));
        case Fetch.Paused: return note === "" ? Format.also(qsTr("Paused"), far) : note;
        case Fetch.Failed: return note;
        case Fetch.Done: return Format.also(checked ? qsTr("Fetched and checked") : qsTr("Fetched"), Format.bytes(totalBytes));
        }
        if (checking)
            return Format.also(qsTr("Being checked"), Format.bytes(totalBytes));
        let parts = Format.also(far, Format.percent(doneBytes, totalBytes));
        if (quietS > 0) {
            parts = Format.also(parts, qsTr("nothing has arrived for %1").arg(Format.duration(1000 * quietS)));
        } else if (bytesPerS > 0) {
            parts = Format.also(parts, qsTr("%1 a second").arg(Format.bytes(bytesPerS)));
            parts = Format.also(parts, qsTr("%1 left").arg(Format.duration(1000 * (totalBytes - doneBytes) / bytesPerS)));
        }
        if (note !== "")
            parts = Format.also(parts, note);
        return againS > 0 ? parts + " " + qsTr("Tries again in %1.").arg(Format.duration(1000 * againS)) : parts;
    }

    signal opened
    signal tokenRequested

    implicitHeight: column.implicitHeight + 2 * Theme.gapSmall
    radius: Theme.radius
    color: Theme.raised
    border.width: 1
    border.color: Theme.border

    Accessible.role: Accessible.ListItem
    Accessible.name: root.name + ", " + root.status

    ColumnLayout {
        id: column

        anchors.left: parent.left
        anchors.right: parent.right
        anchors.verticalCenter: parent.verticalCenter
        anchors.leftMargin: Theme.gap
        anchors.rightMargin: Theme.gapSmall
        spacing: Theme.gapTiny

        RowLayout {
            spacing: Theme.gapTiny

            Text {
                Layout.fillWidth: true
                text: root.name
                textFormat: Text.PlainText
                elide: Text.ElideMiddle
                font.pixelSize: Theme.sizeBody
                font.weight: Font.Medium
                color: Theme.text
                Accessible.ignored: true
            }
            ActionButton {
                objectName: "openFetched"
                visible: root.fetchState === Fetch.Done
                text: qsTr("Open")
                Accessible.name: qsTr("Open %1").arg(root.name)
                onClicked: {
                    root.queue.open(root.index);
                    root.opened();
                }
            }
            ActionButton {
                objectName: "tokenForFetch"
                visible: root.wantsToken
                text: qsTr("Enter a token")
                onClicked: root.tokenRequested()
            }
            IconButton {
                objectName: "pauseFetch"
                visible: root.goesOn
                name: qsTr("Pause %1").arg(root.name)
                tip: qsTr("Pause")
                source: "qrc:/icons/pause.svg"
                onClicked: root.queue.pause(root.index)
            }
            IconButton {
                objectName: "resumeFetch"
                visible: root.fetchState === Fetch.Paused || root.fetchState === Fetch.Failed
                name: qsTr("Go on with %1").arg(root.name)
                tip: qsTr("Go on")
                source: "qrc:/icons/play.svg"
                onClicked: root.queue.resume(root.index)
            }
            IconButton {
                objectName: "cancelFetch"
                name: root.fetchState === Fetch.Done ? qsTr("Take %1 off the list").arg(root.name)
                                                     : qsTr("Cancel %1 and remove what has come; a whole model stays").arg(root.name)
                tip: root.fetchState === Fetch.Done ? qsTr("Take off the list")
                                                    : qsTr("Cancel and remove what has come; a whole model stays")
                source: "qrc:/icons/close.svg"
                onClicked: {
                    if (root.fetchState === Fetch.Done || root.doneBytes === 0)
                        root.queue.cancel(root.index);
                    else
                        confirm.open();
                }
            }
        }
        ProgressLine {
            objectName: "fetchProgress"
            Layout.fillWidth: true
            Layout.rightMargin: Theme.gapSmall
            visible: root.fetchState !== Fetch.Done
            indeterminate: root.checking
            value: root.totalBytes > 0 ? root.doneBytes / root.totalBytes : 0
            Accessible.name: root.name
        }
        Text {
            objectName: "fetchStatus"
            Layout.fillWidth: true
            Layout.rightMargin: Theme.gapSmall
            text: root.status
            textFormat: Text.PlainText
            wrapMode: Text.Wrap
            font.pixelSize: Theme.sizeSmall
            color: root.fetchState === Fetch.Failed ? Theme.danger : Theme.textMuted
            Accessible.ignored: true
        }
    }
    ConfirmDialog {
        id: confirm

        objectName: "confirmCancelFetch"
        question: qsTr("Cancel “%1”?").arg(root.name)
        detail: qsTr("The %1 that have come are removed. To go on later, pause it.").arg(Format.bytes(root.doneBytes))
        confirmText: qsTr("Cancel and remove")
        dismissText: qsTr("Keep it")
        careful: true
        destructive: true
        onConfirmed: root.queue.cancel(root.index)
    }
}
