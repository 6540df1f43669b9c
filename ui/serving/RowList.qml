// Lays out rows of equal height, of which only those in sight are made: while many programs ask, many rows come and go
// a second.
import QtQuick
import QtQuick.Controls
import Spillway.Ui.Components
import Spillway.Ui.Theme

ListView {
    id: root

    required property string name // read aloud
    readonly property bool narrow: width < Theme.px(420) // large text in a small window: a row has two lines
    readonly property int rowHeight: narrow ? Theme.px(48) : Theme.px(28)
    readonly property int rowWidth: width - (overflows ? Theme.px(12) : 0)
    readonly property bool overflows: contentHeight > height

    function scroll(distance: real) {
        contentY = Math.max(originY, Math.min(originY + contentHeight - height, contentY + distance));
    }

    implicitHeight: Math.min(count, 10) * (rowHeight + spacing)
    clip: true
    spacing: 2
    boundsBehavior: Flickable.StopAtBounds
    activeFocusOnTab: overflows
    keyNavigationEnabled: false
    currentIndex: -1 // no row is chosen: the list itself has the keyboard
    reuseItems: true

    Keys.onUpPressed: scroll(-rowHeight)
    Keys.onDownPressed: scroll(rowHeight)
    Keys.onPressed: event => {
        switch (event.key) {
        case Qt.Key_PageUp: scroll(-height); break;
        case Qt.Key_PageDown: scroll(height); break;
        case Qt.Key_Home: positionViewAtBeginning(); break;
        case Qt.Key_End: positionViewAtEnd(); break;
        default: return;
        }
        event.accepted = true;
    }

    Accessible.role: Accessible.List
    Accessible.name: root.name

    ScrollBar.vertical: ThinScrollBar { visible: root.overflows }

    FocusRing { visible: root.activeFocus; gap: 0 }
}
