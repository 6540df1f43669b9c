// Shows the models that are being fetched, wait for it, or have been fetched.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Layouts
import Spillway.App
import Spillway.Ui.Components
import Spillway.Ui.Theme

ColumnLayout {
    id: root

    required property FetchQueue queue

    signal opened
    signal tokenRequested

    spacing: Theme.gapTiny

    Notice {
        Layout.fillWidth: true
        visible: root.queue.error !== ""
        kind: Notice.Warning
        dismissible: false
        sentence: root.queue.error
    }
    LayoutRepeater {
        model: root.queue

        FetchRow {
            objectName: "fetch" + index
            Layout.fillWidth: true
            queue: root.queue
            onOpened: root.opened()
            onTokenRequested: root.tokenRequested()
        }
    }
}
