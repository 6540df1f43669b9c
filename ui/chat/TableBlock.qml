// Shows a table; one that is wider than the page scrolls sideways.
pragma ComponentBehavior: Bound

import QtQuick
import Spillway.App
import Spillway.Ui.Components
import Spillway.Ui.Theme

SidewaysView {
    id: root

    required property var table
    required property string content

    signal linkRequested(string link)

    objectName: "tableBlock"
    tall: edit.height
    height: implicitHeight
    contentWidth: edit.width
    mirrored: writer.mirrored

    Rectangle {
        x: edit.x
        width: edit.width
        height: edit.height
        radius: Theme.radiusSmall
        color: "transparent"
        border.width: 1
        border.color: Theme.border

        Rectangle { // the head
            x: 1
            y: 1
            width: parent.width - 2
            height: writer.lines.length > 0 ? writer.lines[0] - 1 : parent.height - 2
            radius: Theme.radiusSmall - 1
            color: Theme.codeGround
        }
        Repeater {
            model: writer.lines
            delegate: Rectangle {
                required property real modelData

                y: modelData
                width: edit.width
                height: 1
                color: Theme.border
            }
        }
    }

    TextEdit {
        id: edit

        objectName: "tableText"
        x: writer.mirrored ? Math.max(0, root.width - width) : 0
        width: writer.width
        height: implicitHeight
        textFormat: TextEdit.PlainText
        readOnly: true
        selectByMouse: true
        selectByKeyboard: true
        activeFocusOnPress: true
        wrapMode: TextEdit.Wrap
        font.pixelSize: Theme.sizeBody - 1
        color: Theme.text
        selectionColor: Theme.selection
        selectedTextColor: Theme.text
        onLinkActivated: link => root.linkRequested(link)

        Accessible.role: Accessible.Table
        Accessible.name: root.content
        Accessible.readOnly: true

        // What the keys have moved to. A place that text moves while it comes is not followed.
        Keys.onReleased: event => {
            root.follow(event.key, edit.x + edit.cursorRectangle.x);
            event.accepted = false;
        }

        PassShortcuts { text: edit }

        FormulaLayer {
            anchors.fill: parent
            document: edit.textDocument
        }
        TableDocument {
            id: writer

            document: edit.textDocument
            available: root.width
            table: root.table
            bodySize: Theme.sizeBody
            linkColor: Theme.accent
            codeGround: Theme.sunken
            mutedColor: Theme.textMuted
            monospace: Theme.monospace
            serif: Theme.serif
            formulas: Formulas
            formulaColor: edit.color
            errorColor: Theme.danger
            pixelRatio: edit.Screen.devicePixelRatio
        }
        HoverHandler {
            enabled: edit.hoveredLink !== ""
            cursorShape: Qt.PointingHandCursor
        }
    }
}
