// Takes the system prompt, which the model reads before the conversation.
import QtQuick
import QtQuick.Controls
import Spillway.App
import Spillway.Ui.Theme

ScrollView {
    id: root

    required property ConversationSettingsController settings

    implicitHeight: Math.max(Theme.px(84), Math.min(area.implicitHeight, Theme.px(220)))
    ScrollBar.horizontal.policy: ScrollBar.AlwaysOff

    background: Rectangle {
        radius: Theme.radiusSmall
        color: Theme.raised
        border.width: 1
        border.color: area.activeFocus ? Theme.accent : Theme.borderStrong
    }

    TextArea {
        id: area

        objectName: "systemPrompt"
        text: root.settings.systemPrompt
        textFormat: TextEdit.PlainText
        wrapMode: TextEdit.Wrap
        selectByMouse: true
        padding: Theme.gapSmall + 2
        font.pixelSize: Theme.sizeBody
        color: Theme.text
        selectionColor: Theme.selection
        selectedTextColor: Theme.text
        placeholderText: qsTr("For example: answer in short sentences.")
        placeholderTextColor: Theme.textMuted
        background: null
        onTextChanged: {
            if (activeFocus)
                root.settings.systemPrompt = text;
        }

        Accessible.role: Accessible.EditableText
        Accessible.name: qsTr("System prompt")
        Accessible.multiLine: true

        Keys.onTabPressed: nextItemInFocusChain(true).forceActiveFocus(Qt.TabFocusReason)
        Keys.onBacktabPressed: nextItemInFocusChain(false).forceActiveFocus(Qt.BacktabFocusReason)

        Connections {
            target: root.settings

            function onChanged() {
                if (area.text !== root.settings.systemPrompt)
                    area.text = root.settings.systemPrompt;
            }
        }
    }
}
