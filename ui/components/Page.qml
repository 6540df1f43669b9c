// Shows a page of the middle column that is not the conversation: a title, a way back, and what it holds, in one column
// that scrolls when it is long.
import QtQuick
import QtQuick.Layouts
import Spillway.Ui.Theme

FocusScope {
    id: root

    required property string title
    default property alias content: column.data
    property alias actions: actionRow.data // on the right of the title
    readonly property alias scrolled: flick.contentY
    property string backName: qsTr("Back to the conversation")
    property string backShortcut: qsTr("Esc")
    property bool scrolls: true            // false: the content gets the height that is left, and scrolls by itself

    signal backRequested

    function takeFocus() {
        takeBackFocus();
    }
    function takeBackFocus() {
        back.forceActiveFocus(Qt.OtherFocusReason);
    }
    function toTop() {
        flick.scrollTo(0);
    }
    // Scrolls as soon as the content is long enough, since items that have just appeared are laid out later.
    function scrollTo(y: real) {
        flick.scrollTo(y);
    }

    Accessible.role: Accessible.Pane
    Accessible.name: root.title

    RowLayout {
        id: heading

        anchors.top: parent.top
        anchors.topMargin: Theme.gap
        anchors.horizontalCenter: parent.horizontalCenter
        width: flick.columnWidth
        height: Theme.px(44)
        spacing: Theme.gapSmall

        IconButton {
            id: back

            objectName: "pageBack"
            Layout.leftMargin: -Theme.gapSmall
            name: root.backName
            shortcutText: root.backShortcut
            source: "qrc:/icons/back.svg"
            onClicked: root.backRequested()
        }
        Text {
            objectName: "pageTitle"
            Layout.fillWidth: true
            text: root.title
            textFormat: Text.PlainText
            elide: Text.ElideRight
            font.pixelSize: Theme.sizeTitle
            font.weight: Font.DemiBold
            color: Theme.text
            Accessible.role: Accessible.Heading
            Accessible.name: text
        }
        RowLayout {
            id: actionRow

            spacing: Theme.gapSmall
        }
    }
    RevealingView {
        id: flick

        readonly property int columnWidth: Math.min(Theme.columnWidth, root.width - 2 * Theme.gapLarge)
        property real wanted: -1 // where to scroll to; -1: nowhere, or done

        function scrollTo(y: real) {
            wanted = y;
            if (y > Math.max(0, contentHeight - height))
                return;
            contentY = y;
            wanted = -1;
        }

        objectName: "pageFlick"
        anchors.top: heading.bottom
        anchors.topMargin: Theme.gapSmall
        anchors.bottom: parent.bottom
        width: parent.width
        interactive: root.scrolls
        contentHeight: root.scrolls ? column.implicitHeight + Theme.gapHuge : height
        onContentHeightChanged: {
            if (wanted >= 0)
                scrollTo(wanted);
        }

        ColumnLayout {
            id: column

            x: (flick.width - width) / 2
            width: flick.columnWidth
            height: root.scrolls ? implicitHeight : flick.height - Theme.gap
            spacing: Theme.gapSmall
        }
    }
}
