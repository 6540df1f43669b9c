// Says why an answer ended, where it did not end by itself.
import QtQuick
import Spillway.App
import Spillway.Ui.Theme

Text {
    id: root

    required property int status

    function ending(): string {
        switch (status) {
        case MessageModel.Stopped: return qsTr("Stopped");
        case MessageModel.LengthLimit: return qsTr("Length limit reached");
        case MessageModel.ContextFull: return qsTr("The context was full");
        case MessageModel.Interrupted: return qsTr("Interrupted when the program ended");
        }
        return "";
    }

    objectName: "answerEnding"
    visible: text !== ""
    text: ending()
    textFormat: Text.PlainText
    font.pixelSize: Theme.sizeSmall
    color: status === MessageModel.Stopped ? Theme.textMuted : Theme.warning
}
