// Shows the answers to one question side by side, while they are made and until one of them is kept. As many are seen
// as there is room for; if there are more, the edge of the next one is seen.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Controls
import QtQuick.Layouts
import Spillway.App
import Spillway.Ui.Components
import Spillway.Ui.Theme

FocusScope {
    id: root

    required property ChatController chat

    readonly property int narrowest: Theme.px(280)
    readonly property int room: width - 2 * Theme.gapLarge
    readonly property int fitting: Math.max(1, Math.min(view.count, Math.floor((room + Theme.gap) / (narrowest + Theme.gap))))
    readonly property bool overflows: view.count > fitting
    readonly property int edge: overflows ? Theme.gap + Theme.px(32) : 0
    readonly property int columnWidth: Math.min(Theme.columnWidth, (room - edge - (fitting - 1) * Theme.gap) / fitting)

    function takeFocus() {
        view.forceActiveFocus(Qt.OtherFocusReason);
    }

    LinkDialog { id: linkDialog }
    Connections {
        target: root.Window.window

        // Scrolls to the column that gets the keyboard.
        function onActiveFocusItemChanged() {
            let at = root.Window.activeFocusItem;
            while (at && at.parent !== view.contentItem)
                at = at.parent;
            if (at)
                view.positionViewAtIndex((at as AnswerColumn).index, ListView.Contain);
        }
    }

    ColumnLayout {
        anchors.fill: parent
        anchors.leftMargin: Theme.gapLarge
        anchors.rightMargin: Theme.gapLarge
        anchors.topMargin: Theme.gapSmall
        spacing: Theme.gapSmall

        RowLayout {
            Layout.alignment: Qt.AlignHCenter
            Layout.preferredWidth: view.width
            Layout.maximumWidth: view.width
            spacing: Theme.gapSmall

            Text {
                text: qsTr("Versions of the answer")
                textFormat: Text.PlainText
                font.pixelSize: Theme.sizeBody
                font.weight: Font.DemiBold
                color: Theme.text
                Accessible.role: Accessible.Heading
                Accessible.name: text
            }
            Text {
                objectName: "comparedQuestion"
                Layout.fillWidth: true
                text: root.chat.comparison.question
                textFormat: Text.PlainText
                elide: Text.ElideRight
                font.pixelSize: Theme.sizeBody
                color: Theme.textMuted
                Accessible.role: Accessible.StaticText
                Accessible.name: qsTr("You: %1").arg(text)
            }
            IconButton {
                objectName: "closeColumns"
                name: qsTr("Back to the conversation")
                shortcutText: root.chat.turn.busy ? "" : qsTr("Esc")
                source: "qrc:/icons/close.svg"
                size: Theme.px(32)
                pictureSize: Theme.px(18)
                onClicked: root.chat.comparison.close()
            }
        }
        ListView {
            id: view

            objectName: "answerColumns"
            Layout.alignment: Qt.AlignHCenter
            Layout.fillHeight: true
            Layout.preferredWidth: root.overflows ? root.room : root.fitting * (root.columnWidth + Theme.gap) - Theme.gap
            orientation: ListView.Horizontal
            spacing: Theme.gap
            clip: true
            focus: true
            boundsBehavior: Flickable.StopAtBounds
            snapMode: ListView.SnapToItem
            highlightMoveDuration: Theme.fast
            cacheBuffer: 16 * root.columnWidth // all columns exist, so that Tab reaches each
            reuseItems: false
            model: root.chat.comparison.answers
            currentIndex: 0
            ScrollBar.horizontal: ThinScrollBar {
                policy: root.overflows ? ScrollBar.AlwaysOn : ScrollBar.AlwaysOff
            }
            Component.onCompleted: {
                currentIndex = Math.max(0, root.chat.comparison.current);
                positionViewAtIndex(currentIndex, ListView.Beginning);
            }

            Accessible.role: Accessible.List
            Accessible.name: qsTr("Versions of the answer")

            SidewaysWheel { view: view }

            delegate: AnswerColumn {
                width: root.columnWidth
                height: view.height - (root.overflows ? Theme.gap : Theme.gapTiny)
                chat: root.chat
                onLinkRequested: link => linkDialog.ask(link)
                onActiveFocusChanged: {
                    if (activeFocus)
                        view.currentIndex = index;
                }
            }
        }
    }
}
