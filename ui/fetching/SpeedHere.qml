// Says how fast the model that is looked at would be here, and offers to try it with a made model of the same shapes.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Layouts
import Spillway.App
import Spillway.Ui.Components
import Spillway.Ui.Models
import Spillway.Ui.Theme

ColumnLayout {
    id: root

    required property ModelOutlook outlook
    required property SpeedTrial trial

    readonly property bool trying: trial.state === SpeedTrial.Making || trial.state === SpeedTrial.Running
    readonly property var foretold: outlook.rows.length > 0 ? outlook.rows[0].tokensPerSecond : undefined
    readonly property string where: {
        if (!outlook.onDevice)
            return "";
        const layers = outlook.expertsOnDevice === undefined ? qsTr("%1 of %2 layers on the device").arg(outlook.deviceLayers).arg(outlook.layers)
            : qsTr("Fits on the device: attention and %1 of the experts").arg(Format.percent(outlook.expertsOnDevice, 1));
        return outlook.spillTokens === undefined ? layers
            : Format.also(layers, qsTr("the first block leaves it at %1 tokens").arg(Format.count(outlook.spillTokens)));
    }

    function words(row: outlookRow): string {
        return row.stops ? qsTr("finds no room") : row.beyond ? qsTr("beyond its context") : Format.tokensPerSecond(row.tokensPerSecond);
    }

    spacing: Theme.gapSmall

    GridLayout {
        Layout.fillWidth: true
        columns: Math.max(1, Math.floor(root.width / Theme.px(190)))
        columnSpacing: Theme.gap
        rowSpacing: Theme.gapSmall

        LayoutRepeater {
            model: root.outlook.rows

            Fact {
                required property outlookRow modelData

                objectName: "foretold" + modelData.contextTokens
                Layout.fillWidth: true
                Layout.preferredWidth: 1
                label: modelData.contextTokens === 0 ? qsTr("Foretold speed here")
                                                     : qsTr("After %1 tokens").arg(Format.context(modelData.contextTokens))
                value: root.words(modelData)
            }
        }
    }
    Text {
        objectName: "whereItLies"
        Layout.fillWidth: true
        visible: text !== ""
        text: root.where
        textFormat: Text.PlainText
        wrapMode: Text.Wrap
        font.pixelSize: Theme.sizeSmall
        color: Theme.textMuted
    }
    Text {
        objectName: "measuringWords"
        Layout.fillWidth: true
        visible: root.outlook.measuring
        text: qsTr("This machine is being measured…")
        textFormat: Text.PlainText
        wrapMode: Text.Wrap
        font.pixelSize: Theme.sizeSmall
        color: Theme.textMuted
    }
    ProgressLine {
        objectName: "measuringMachine"
        Layout.fillWidth: true
        visible: root.outlook.measuring
        indeterminate: true
        Accessible.name: qsTr("Measuring this machine")
    }
    GridLayout {
        Layout.fillWidth: true
        Layout.bottomMargin: Theme.gapTiny
        visible: root.trial.possible
        columns: root.width < Theme.px(420) ? 1 : 2 // large text in a small window
        columnSpacing: Theme.gap
        rowSpacing: Theme.gapSmall

        ActionButton {
            objectName: "trySpeed"
            text: root.trying ? qsTr("Stop") : qsTr("Try its speed now")
            onClicked: root.trying ? root.trial.stop() : root.trial.start(root.foretold ?? -1)
        }
        ColumnLayout {
            Layout.fillWidth: true
            spacing: Theme.gapTiny

            Text {
                objectName: "trialWords"
                Layout.fillWidth: true
                text: {
                    switch (root.trial.state) {
                    case SpeedTrial.Making:
                        return qsTr("A model of the same size is being made…");
                    case SpeedTrial.Running:
                        return qsTr("It runs…");
                    case SpeedTrial.Done:
                        return qsTr("Measured here: %1").arg(Format.tokensPerSecond(root.trial.tokensPerSecond));
                    case SpeedTrial.Failed:
                        return root.trial.trouble;
                    default:
                        return qsTr("A made model of the same size, %1, is written to the disk for it and runs here for some seconds. Nothing is fetched.").arg(Format.bytes(root.trial.bytes));
                    }
                }
                textFormat: Text.PlainText
                wrapMode: Text.Wrap
                font.pixelSize: Theme.sizeSmall
                font.weight: root.trial.state === SpeedTrial.Done ? Font.DemiBold : Font.Normal
                color: root.trial.state === SpeedTrial.Failed ? Theme.danger : root.trial.state === SpeedTrial.Done ? Theme.text : Theme.textMuted
            }
            ProgressLine {
                objectName: "trialProgress"
                Layout.fillWidth: true
                visible: root.trying
                indeterminate: root.trial.state === SpeedTrial.Running
                value: root.trial.share
                Accessible.name: root.trial.state === SpeedTrial.Running ? qsTr("Trying its speed") : qsTr("Making a model")
            }
        }
    }
}
