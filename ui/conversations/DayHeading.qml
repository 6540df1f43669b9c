// Above the conversations of a day or month.
import QtQuick
import Spillway.Ui.Components
import Spillway.Ui.Theme

SectionHeading {
    required property string section

    width: ListView.view ? ListView.view.width - ListView.view.rightMargin : 0
    leftPadding: Theme.px(10)
    topPadding: Theme.px(14)
    bottomPadding: Theme.px(6)
    text: section
    height: section === "" ? 0 : implicitHeight // folders have none; not by "visible", which is false while the column is hidden
    font.pixelSize: Theme.sizeSmall - 1
}
