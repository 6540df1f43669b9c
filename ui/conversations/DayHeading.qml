// Shows the day or month of the conversations below it.
import QtQuick
import Spillway.Ui.Components
import Spillway.Ui.Theme

SectionHeading {
    // Not a required property: Qt 6.4 sets those only when a heading is made, and reuses headings for other days.
    readonly property string day: section // qmllint disable unqualified

    objectName: "dayHeading"
    width: ListView.view ? ListView.view.width - ListView.view.rightMargin : 0
    leftPadding: Theme.px(10)
    topPadding: Theme.px(14)
    bottomPadding: Theme.px(6)
    text: day
    height: day === "" ? 0 : implicitHeight // folders have none; not by "visible", which is false while the column is hidden
    font.pixelSize: Theme.sizeSmall - 1
}
