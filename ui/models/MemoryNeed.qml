// Shows the memory that a model would take beside what there is: a bar, and the numbers in words.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Layouts
import Spillway.App
import Spillway.Ui.Theme

ColumnLayout {
    id: root

    required property modelFit fit

    readonly property real scale: Math.max(fit.totalBytes, fit.neededBytes, 1)
    readonly property string verdict: {
        switch (fit.verdict) {
        case Fit.Fits:
            return qsTr("It fits, with memory to spare.");
        case Fit.FitsWithLessContext:
            return qsTr("A context of %1 tokens fits now, %2 do not.").arg(Format.count(fit.largestContext))
                    .arg(Format.count(fit.contextTokens));
        case Fit.Tight:
            return qsTr("It fits if next to nothing is left for other programs.");
        case Fit.DoesNotFit:
            return fit.weightBytes > fit.totalBytes
                    ? qsTr("It is larger than this computer’s memory: it would run from the disk, very slowly.")
                    : qsTr("It does not fit now; closing other programs may help.");
        }
        return qsTr("How much it takes is not known.");
    }
    readonly property var parts: [
        { name: qsTr("Weights"), bytes: fit.weightBytes, ink: Theme.accent },
        { name: qsTr("KV cache of %1 tokens").arg(Format.count(fit.contextTokens)), bytes: fit.kvBytes, ink: Theme.warning },
        ...(fit.stateBytes > 0 ? [{ name: qsTr("States of fixed size"), bytes: fit.stateBytes, ink: Theme.state }] : []),
        { name: qsTr("Scratch"), bytes: fit.scratchBytes, ink: Theme.textMuted },
        ...(fit.draftBytes > 0 ? [{ name: qsTr("Draft model"), bytes: fit.draftBytes, ink: Theme.borderStrong }] : [])
    ]

    spacing: Theme.gapSmall

    Text {
        objectName: "fitVerdict"
        Layout.fillWidth: true
        text: root.verdict
        textFormat: Text.PlainText
        wrapMode: Text.Wrap
        font.pixelSize: Theme.sizeBody
        font.weight: Font.Medium
        color: Theme.text
    }
    Rectangle {
        id: bar

        Layout.fillWidth: true
        Layout.preferredHeight: Theme.px(10)
        visible: root.fit.verdict !== Fit.Unknown
        radius: height / 2
        color: Theme.dark ? Theme.hover : Theme.border
        clip: true

        Accessible.role: Accessible.Graphic
        Accessible.name: legend.text

        Row {
            height: parent.height

            Repeater {
                model: root.parts

                Rectangle {
                    required property var modelData

                    height: bar.height
                    width: bar.width * modelData.bytes / root.scale
                    color: modelData.ink
                }
            }
        }
        // Marks where the free memory ends.
        Rectangle {
            x: Math.min(bar.width - width, bar.width * root.fit.availableBytes / root.scale)
            width: 2
            height: parent.height
            visible: root.fit.availableBytes >= 0
            color: Theme.text
        }
    }
    Text {
        id: legend

        Layout.fillWidth: true
        visible: bar.visible
        text: root.parts.map(part => part.name + " " + Format.bytes(part.bytes)).join("  ·  ") + "\n"
              + qsTr("%1 needed, %2 of %3 free").arg(Format.bytes(root.fit.neededBytes))
                .arg(Format.bytes(root.fit.availableBytes)).arg(Format.bytes(root.fit.totalBytes))
        textFormat: Text.PlainText
        wrapMode: Text.Wrap
        font.pixelSize: Theme.sizeSmall
        lineHeight: Theme.lineHeight
        color: Theme.textMuted
        Accessible.ignored: true
    }
}
