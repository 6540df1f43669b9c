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
    visible: section !== "" // of folders
    height: visible ? implicitHeight : 0
    font.pixelSize: Theme.sizeSmall - 1
}
