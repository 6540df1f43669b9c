// Shows a formula on lines of its own, or its LaTeX where it cannot be laid out.
import QtQuick
import Spillway.App
import Spillway.Ui.Components
import Spillway.Ui.Theme

SidewaysView {
    id: root

    required property string content
    required property string formula

    objectName: "mathsBlock"
    tall: edit.implicitHeight + Theme.px(12)
    contentWidth: edit.width

    TextEdit {
        id: edit

        y: Theme.px(6)
        width: Math.max(root.width, implicitWidth)
        objectName: "mathsText"
        textFormat: TextEdit.PlainText // the program formats the document itself
        readOnly: true
        selectByMouse: true
        selectByKeyboard: true
        horizontalAlignment: TextEdit.AlignHCenter
        font.pixelSize: Theme.sizeBody
        color: Theme.text
        selectionColor: Theme.selection
        selectedTextColor: Theme.text

        Accessible.role: Accessible.StaticText
        Accessible.name: root.content
        Accessible.readOnly: true

        PassShortcuts { text: edit }

        FormulaLayer {
            anchors.fill: parent
            document: edit.textDocument
        }
        FormulaDocument {
            document: edit.textDocument
            latex: root.formula
            shown: root.content
            bodySize: Theme.sizeBody
            serif: Theme.serif
            formulas: Formulas
            formulaColor: edit.color
            errorColor: Theme.danger
            pixelRatio: edit.Screen.devicePixelRatio
        }
    }
}
