// Shows paragraphs, headings and lists as one text that can be selected and grows while it streams.
import QtQuick
import Spillway.App
import Spillway.Ui.Theme

TextEdit {
    id: root

    required property var paragraphs
    required property string content
    property bool first: true // of the message
    property bool follows: false

    signal linkRequested(string link)

    objectName: "textBlock"
    height: Math.ceil(implicitHeight) // what is below begins on a whole pixel, where letters and formulas share a baseline
    textFormat: TextEdit.PlainText // the program formats the document itself; markup in a text has no effect
    readOnly: true
    selectByMouse: true
    selectByKeyboard: true
    activeFocusOnPress: true
    wrapMode: TextEdit.Wrap
    font.pixelSize: Theme.sizeBody
    color: Theme.text
    selectionColor: Theme.selection
    selectedTextColor: Theme.text
    onLinkActivated: link => root.linkRequested(link)

    Accessible.role: Accessible.StaticText
    Accessible.name: root.content
    Accessible.readOnly: true

    PassShortcuts { text: root }

    FormulaLayer {
        anchors.fill: parent
        document: root.textDocument
    }
    ParagraphDocument {
        document: root.textDocument
        paragraphs: root.paragraphs
        first: root.first
        follows: root.follows
        bodySize: Theme.sizeBody
        linkColor: Theme.accent
        codeGround: Theme.sunken
        mutedColor: Theme.textMuted
        monospace: Theme.monospace
        serif: Theme.serif
        formulas: Formulas
        formulaColor: root.color
        errorColor: Theme.danger
        pixelRatio: root.Screen.devicePixelRatio
    }
    HoverHandler {
        enabled: root.hoveredLink !== ""
        cursorShape: Qt.PointingHandCursor
    }
}
