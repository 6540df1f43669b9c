// Says in a word and a colour whether a model fits into memory.
import QtQuick
import Spillway.App
import Spillway.Ui.Theme

Row {
    id: root

    required property modelFit fit

    readonly property string words: {
        switch (fit.verdict) {
        case Fit.Fits: return qsTr("Fits");
        case Fit.FitsWithLessContext: return qsTr("Fits %1 tokens").arg(Format.count(fit.largestContext));
        case Fit.Tight: return qsTr("Tight");
        case Fit.DoesNotFit: return qsTr("Does not fit");
        }
        return "";
    }
    readonly property color ink: {
        switch (fit.verdict) {
        case Fit.Fits: return Theme.accent;
        case Fit.DoesNotFit: return Theme.danger;
        }
        return Theme.warning;
    }

    spacing: Theme.px(6)
    visible: words !== ""

    Accessible.ignored: true

    Rectangle {
        anchors.verticalCenter: parent.verticalCenter
        width: Theme.px(8)
        height: width
        radius: width / 2
        color: root.fit.verdict === Fit.FitsWithLessContext ? "transparent" : root.ink
        border.width: Theme.px(2)
        border.color: root.ink
    }
    Text {
        text: root.words
        textFormat: Text.PlainText
        font.pixelSize: Theme.sizeSmall
        font.weight: Font.Medium
        color: root.ink
        Accessible.ignored: true
    }
}
