// What the program itself has to say, above the page.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Layouts
import Spillway.App
import Spillway.Ui.Components
import Spillway.Ui.Theme

Item {
    id: root

    required property ProgramController program

    height: program.notices.length > 0 ? column.implicitHeight + Theme.gap : 0

    ColumnLayout {
        id: column

        y: Theme.gapSmall
        width: Math.min(Theme.columnWidth, root.width - 2 * Theme.gapLarge)
        anchors.horizontalCenter: parent.horizontalCenter
        spacing: Theme.gapSmall

        Repeater {
            model: root.program.notices
            delegate: Notice {
                required property int index
                required property string modelData

                objectName: "programNotice"
                Layout.fillWidth: true
                kind: Notice.Warning
                sentence: modelData
                onDismissRequested: root.program.dismissNotice(index)
            }
        }
    }
}
