// Below an answer that has ended: how it ended, its numbers, and what can be done with it.
import QtQuick
import QtQuick.Layouts
import Spillway.App
import Spillway.Ui.Components
import Spillway.Ui.Theme

ColumnLayout {
    id: root

    required property int status
    required property string sentence
    required property var tokens
    required property var ttftMs
    required property var tokensPerSecond
    required property bool canRetry
    required property bool canCopy

    signal copyRequested
    signal retryRequested
    signal newRequested

    readonly property bool failed: status === MessageModel.Failed
    readonly property bool full: status === MessageModel.ContextFull

    function numbers(): string {
        let all = "";
        if (status === MessageModel.Stopped)
            all = Format.also(all, qsTr("Stopped"));
        if (status === MessageModel.LengthLimit)
            all = Format.also(all, qsTr("Length limit reached"));
        if (tokens !== undefined)
            all = Format.also(all, tokens === 1 ? qsTr("1 token") : qsTr("%1 tokens").arg(Format.count(tokens)));
        if (tokensPerSecond !== undefined)
            all = Format.also(all, Format.tokensPerSecond(tokensPerSecond));
        if (ttftMs !== undefined)
            all = Format.also(all, qsTr("first after %1").arg(Format.milliseconds(ttftMs)));
        return all;
    }

    spacing: Theme.gapSmall

    Notice {
        objectName: "answerNotice"
        Layout.fillWidth: true
        visible: root.failed || root.full
        kind: root.failed ? Notice.Error : Notice.Warning
        sentence: root.failed ? root.sentence
                              : qsTr("The context is full, so the answer stops here.")
        dismissible: false
        actionText: root.full ? qsTr("New conversation") : root.canRetry ? qsTr("Try again") : ""
        onActionRequested: root.full ? root.newRequested() : root.retryRequested()
    }
    RowLayout {
        visible: root.canCopy || numbersText.text !== ""
        Layout.leftMargin: -6
        spacing: 2

        IconButton {
            id: copyButton

            objectName: "copyButton"
            visible: root.canCopy
            size: 30
            pictureSize: 17
            name: done.running ? qsTr("Copied") : qsTr("Copy the answer")
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
        IconButton {
            objectName: "retryButton"
            visible: root.canRetry && !root.failed
            size: 30
            pictureSize: 17
            name: qsTr("Answer again")
            source: "qrc:/icons/retry.svg"
            onClicked: root.retryRequested()
        }
        Text {
            id: numbersText

            objectName: "answerNumbers"
            Layout.fillWidth: true
            Layout.leftMargin: Theme.gapSmall
            text: root.numbers()
            textFormat: Text.PlainText
            elide: Text.ElideRight
            font.pixelSize: Theme.sizeSmall
            color: Theme.textMuted
        }
    }
}
