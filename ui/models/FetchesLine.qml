// Says in one quiet line what is being fetched, has stopped or failed, and leads to the list of it.
import QtQuick
import QtQuick.Controls
import QtQuick.Layouts
import Spillway.App
import Spillway.Ui.Components
import Spillway.Ui.Theme

Button {
    id: root

    required property fetchSummary summary

    readonly property string words: {
        const share = Format.percent(summary.share, 1);
        switch (summary.state) {
        case Fetch.Fetching: return Format.filled(qsTr("%1 is being fetched: %2"), [summary.name, share]);
        case Fetch.Paused: return Format.filled(qsTr("%1 is paused at %2"), [summary.name, share]);
        case Fetch.Failed: return qsTr("%1 could not be fetched").arg(summary.name);
        }
        return qsTr("%1 waits to be fetched").arg(summary.name);
    }
    readonly property string all: summary.others > 0 ? Format.also(words, qsTr("%1 more").arg(Format.count(summary.others))) : words

    visible: summary.state !== Fetch.None
    implicitHeight: Theme.controlHeight
    leftPadding: Theme.gap
    rightPadding: Theme.gapSmall
    hoverEnabled: true
    Keys.onReturnPressed: event => {
        if (!event.isAutoRepeat)
            clicked();
    }
    Keys.onEnterPressed: event => {
        if (!event.isAutoRepeat)
            clicked();
    }

    Accessible.name: root.all
    Accessible.description: qsTr("Shows what is being fetched")
    Accessible.onPressAction: root.clicked()

    background: Rectangle {
        radius: Theme.radius
        color: root.hovered || root.down ? Theme.hover : Theme.raised
        border.width: 1
        border.color: Theme.border

        FocusRing { visible: root.visualFocus }
    }
    contentItem: RowLayout {
        spacing: Theme.gap

        Text {
            objectName: "fetchesWords"
            Layout.fillWidth: true
            text: root.all
            textFormat: Text.PlainText
            elide: Text.ElideMiddle
            font.pixelSize: Theme.sizeSmall
            color: root.summary.state === Fetch.Failed ? Theme.danger : Theme.text
            Accessible.ignored: true
        }
        ProgressLine {
            visible: root.summary.state === Fetch.Fetching || root.summary.state === Fetch.Paused
            value: root.summary.share
            fill: root.summary.state === Fetch.Fetching ? Theme.accent : Theme.textMuted
            Accessible.ignored: true
        }
        Picture {
            source: "qrc:/icons/next.svg"
            size: Theme.px(16)
            ink: Theme.textMuted
        }
    }
}
