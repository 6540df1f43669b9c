// Shows how busy the open model's server is, as the server measures it: its KV cache, its requests, what it moved.
import QtQuick
import QtQuick.Layouts
import Spillway.App
import Spillway.Ui.Theme

ColumnLayout {
    id: root

    required property ServerLoad load

    readonly property string kvNote: load.kvTokens !== undefined ? qsTr("%1 tokens").arg(Format.count(load.kvTokens))
                                   : load.kvBytes !== undefined ? Format.bytes(load.kvBytes) : ""
    readonly property string moved: {
        let parts = "";
        for (const part of [load.offloadedPerSecond > 0 ? qsTr("%1 a second to its RAM").arg(Format.bytes(load.offloadedPerSecond)) : "",
                            load.fetchedPerSecond > 0 ? qsTr("%1 a second back").arg(Format.bytes(load.fetchedPerSecond)) : ""]) {
            if (part !== "")
                parts = parts === "" ? part : Format.also(parts, part);
        }
        return parts;
    }

    function time(ms: var, isMore: bool): string {
        return isMore ? qsTr("over %1").arg(Format.milliseconds(ms)) : Format.milliseconds(ms);
    }
    function count(value: var): string {
        return value === undefined ? "–" : Format.count(value);
    }

    spacing: Theme.gapSmall

    GridLayout {
        Layout.fillWidth: true
        visible: root.load.measured
        columns: 3
        columnSpacing: Theme.gapSmall
        rowSpacing: Theme.gapSmall

        NumberTile {
            objectName: "serverKv"
            Layout.fillWidth: true
            Layout.preferredWidth: 1
            label: qsTr("KV cache")
            value: root.load.kvPercent !== undefined ? Format.percent(root.load.kvPercent, 100) : root.kvNote !== "" ? root.kvNote : "–"
            note: root.load.kvPercent !== undefined ? root.kvNote : ""
            explanation: qsTr("How much of the server's KV cache is in use, by all its clients. At 100 % requests wait, or lose what was computed for them.")
            history: root.load.kvHistory
        }
        NumberTile {
            objectName: "serverRunning"
            Layout.fillWidth: true
            Layout.preferredWidth: 1
            label: qsTr("Running")
            value: root.count(root.load.running)
            explanation: qsTr("Requests that the server answers now, of all its clients.")
            history: root.load.runningHistory
        }
        NumberTile {
            objectName: "serverWaiting"
            Layout.fillWidth: true
            Layout.preferredWidth: 1
            label: qsTr("Waiting")
            value: root.count(root.load.waiting)
            explanation: qsTr("Requests that wait for their turn.")
            history: root.load.waitingHistory
        }
        NumberTile {
            objectName: "serverSpeed"
            Layout.fillWidth: true
            Layout.preferredWidth: 1
            label: qsTr("All clients")
            value: root.load.tokensPerSecond === undefined ? "–" : Format.tokensPerSecond(root.load.tokensPerSecond)
            explanation: qsTr("Tokens that the server writes in a second, for all its clients together.")
            history: root.load.speedHistory
        }
        NumberTile {
            objectName: "serverHits"
            Layout.fillWidth: true
            Layout.preferredWidth: 1
            label: qsTr("Known")
            value: root.load.hitPercent === undefined ? "–" : Format.percent(root.load.hitPercent, 100)
            explanation: qsTr("Of the prompts' tokens, how many the server had in its KV cache already, since you have been looking.")
        }
        NumberTile {
            objectName: "serverPreemptions"
            Layout.fillWidth: true
            Layout.preferredWidth: 1
            label: qsTr("Pushed out")
            value: root.count(root.load.preemptions)
            explanation: qsTr("Requests that lost their KV to others and were computed again, since you have been looking.")
        }
    }
    GridLayout {
        Layout.fillWidth: true
        visible: root.load.firstToken.halfMs !== undefined || root.load.tokenGap.halfMs !== undefined
        columns: 2
        columnSpacing: Theme.gapSmall
        rowSpacing: Theme.gapSmall

        NumberTile {
            objectName: "serverFirstToken"
            Layout.fillWidth: true
            Layout.preferredWidth: 1
            label: qsTr("First token, half")
            value: root.time(root.load.firstToken.halfMs, root.load.firstToken.halfIsMore)
            explanation: qsTr("From a request to its first token (TTFT): what half of all clients' requests stayed below, and 99 %, since you have been looking.")
        }
        NumberTile {
            objectName: "serverFirstTokenMost"
            Layout.fillWidth: true
            Layout.preferredWidth: 1
            label: qsTr("First token, 99 %")
            value: root.time(root.load.firstToken.mostMs, root.load.firstToken.mostIsMore)
            explanation: qsTr("From a request to its first token (TTFT): what half of all clients' requests stayed below, and 99 %, since you have been looking.")
        }
        NumberTile {
            objectName: "serverTokenGap"
            Layout.fillWidth: true
            Layout.preferredWidth: 1
            label: qsTr("Per token, half")
            value: root.time(root.load.tokenGap.halfMs, root.load.tokenGap.halfIsMore)
            explanation: qsTr("Between two tokens of an answer: what half of them stayed below, and 99 %, since you have been looking.")
        }
        NumberTile {
            objectName: "serverTokenGapMost"
            Layout.fillWidth: true
            Layout.preferredWidth: 1
            label: qsTr("Per token, 99 %")
            value: root.time(root.load.tokenGap.mostMs, root.load.tokenGap.mostIsMore)
            explanation: qsTr("Between two tokens of an answer: what half of them stayed below, and 99 %, since you have been looking.")
        }
    }
    Text {
        objectName: "serverMoved"
        Layout.fillWidth: true
        visible: root.moved !== ""
        text: root.moved
        textFormat: Text.PlainText
        wrapMode: Text.Wrap
        font.pixelSize: Theme.sizeSmall
        color: Theme.textMuted
    }
    PanelNote {
        objectName: "serverCause"
        Layout.fillWidth: true
        visible: sentence !== ""
        sentence: root.load.cause
    }
    PanelNote {
        objectName: "serverNote"
        Layout.fillWidth: true
        sentence: root.load.trouble !== "" ? root.load.trouble
                : !root.load.measured ? qsTr("Asking the server how busy it is…")
                : root.load.restarts > 0 ? qsTr("Measured by the server, which was started anew meanwhile.")
                : qsTr("Measured by the server, for all its clients.")
    }
}
