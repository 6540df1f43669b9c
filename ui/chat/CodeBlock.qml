// Shows code with its language's name and a button that copies all of it. Long lines scroll sideways or are wrapped.
// Long code is shown by several of these blocks; only the first has the head.
import QtQuick
import Spillway.App
import Spillway.Ui.Components
import Spillway.Ui.Theme

Rectangle {
    id: root

    required property string content
    required property string language
    required property string title
    required property int startState
    required property bool first

    signal copyRequested

    function scrollSideways(distance: real): bool {
        return flick.scrollSideways(distance);
    }

    objectName: "codeBlock"
    implicitHeight: flick.implicitHeight + (first ? head.height : 0)
    radius: first ? Theme.radius : 0
    color: Theme.codeGround

    Item {
        id: head

        visible: root.first
        width: parent.width
        height: Theme.px(38)

        Text {
            objectName: "codeLanguage"
            anchors.verticalCenter: parent.verticalCenter
            x: Theme.gap
            width: wrap.x - Theme.gap - Theme.gapSmall
            elide: Text.ElideRight
            text: root.title !== "" ? root.title : qsTr("Code")
            textFormat: Text.PlainText
            font.pixelSize: Theme.sizeSmall
            font.weight: Font.Medium
            color: Theme.textMuted
        }
        IconButton {
            id: wrap

            objectName: "wrapCodeButton"
            anchors.verticalCenter: parent.verticalCenter
            anchors.right: copy.left
            size: Theme.px(28)
            pictureSize: Theme.px(16)
            name: CodeView.wrap ? qsTr("Do not wrap long lines") : qsTr("Wrap long lines")
            source: CodeView.wrap ? "qrc:/icons/unwrap.svg" : "qrc:/icons/wrap.svg"
            onClicked: CodeView.toggle()
        }
        IconButton {
            id: copy

            objectName: "copyCodeButton"
            anchors.verticalCenter: parent.verticalCenter
            anchors.right: parent.right
            anchors.rightMargin: Theme.gapSmall
            size: Theme.px(28)
            pictureSize: Theme.px(16)
            name: done.running ? qsTr("Copied") : qsTr("Copy the code")
            source: done.running ? "qrc:/icons/check.svg" : "qrc:/icons/copy.svg"
            onClicked: {
                root.copyRequested();
                done.restart();
            }

            Timer {
                id: done
                interval: 1500
            }
        }
        Rectangle {
            anchors.bottom: parent.bottom
            width: parent.width
            height: 1
            color: Theme.border
        }
    }

    SidewaysView {
        id: flick

        objectName: "codeFlick"
        y: root.first ? head.height : 0
        width: parent.width
        height: implicitHeight
        tall: edit.implicitHeight + Theme.px(20)
        contentWidth: edit.width

        TextEdit {
            id: edit

            objectName: "codeText"
            width: CodeView.wrap ? flick.width : Math.max(flick.width, implicitWidth)
            leftPadding: Theme.gap
            rightPadding: Theme.gap
            y: Theme.px(10)
            textFormat: TextEdit.PlainText
            readOnly: true
            selectByMouse: true
            selectByKeyboard: true
            activeFocusOnPress: true
            wrapMode: CodeView.wrap ? TextEdit.Wrap : TextEdit.NoWrap
            font.family: Theme.monospace
            font.pixelSize: Theme.sizeCode
            color: Theme.text
            selectionColor: Theme.selection
            selectedTextColor: Theme.text

            Accessible.role: Accessible.StaticText
            Accessible.name: root.content
            Accessible.readOnly: true

            // What the keys have moved to. A place that text moves while it comes is not followed.
            Keys.onReleased: event => {
                flick.follow(event.key, edit.cursorRectangle.x);
                event.accepted = false;
            }

            PassShortcuts { text: edit }

            CodeDocument {
                document: edit.textDocument
                code: root.content
                language: root.language
                startState: root.startState
                colors: Theme.codeColors
            }
        }
    }
}
