// Computes how wide the columns of the table are: each has room for its head and for the widest number that stands in
// it, in the user's language and size of type. Digits of 8 are the widest.
import QtQuick
import Spillway.Ui.Theme

FontMetrics {
    id: root

    required property var strategyNames
    property real more: 0 // width that each column of numbers gets where the table has room
    property var expertNames: [] // empty: no model has experts

    readonly property real context: fitting([qsTr("Context"), Format.count(8888888)])
    readonly property real strategy: fitting(strategyNames.concat([qsTr("Strategy")]))
    readonly property real experts: expertNames.length > 0 ? fitting(expertNames.concat([qsTr("experts")])) : 0
    readonly property real before: context + strategy + Theme.px(8) + 4 * Theme.gapSmall // width before the numbers
                                   + (experts > 0 ? experts + Theme.gapSmall : 0)
    readonly property real speed: fitting([qsTr("tok/s"), Format.three(88888)])
    readonly property real ratio: fitting([qsTr("ratio"), Format.ratio(888)])
    readonly property real change: fitting([qsTr("change"), "+" + qsTr("%1 %").arg(Format.count(8888))])
    readonly property real p99: fitting([qsTr("99 %"), Format.milliseconds(8888)])
    readonly property real reading: fitting([qsTr("reading"), Format.milliseconds(8888)])
    readonly property real device: fitting([qsTr("device"), Format.bytes(88.8e6)])
    readonly property real host: fitting([qsTr("RAM"), Format.bytes(88.8e6)])
    readonly property real hits: fitting([qsTr("hits"), Format.percent(1, 1)])
    readonly property real spread: fitting([qsTr("from–to"), Format.three(88888) + "–" + Format.three(88888)])

    function fitting(texts: var): real {
        return Math.ceil(Math.max(...texts.map(text => advanceWidth(text)))) + 2;
    }

    font.pixelSize: Theme.sizeSmall
    font.weight: Font.Medium
}
