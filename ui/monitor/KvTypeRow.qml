// Lets the user choose the type of keys and values, and shows what each type would bring while it is highlighted.
import QtQuick
import QtQuick.Layouts
import Spillway.App
import Spillway.Ui.Components
import Spillway.Ui.Theme

ColumnLayout {
    id: root

    required property PlacementController placement

    readonly property int looked: box.popup.visible ? box.highlightedIndex : placement.kvType
    property placementPreview then: placement.forecast.previewKvType(looked)

    function foretold(): string {
        if (!then.known)
            return "";
        const full = then.stateBytes > 0
            ? qsTr("%1 of KV and %2 of states when the context is full").arg(Format.bytes(then.kvBytesFull)).arg(Format.bytes(then.stateBytes))
            : qsTr("%1 of KV when the context is full").arg(Format.bytes(then.kvBytesFull));
        if (!placement.available)
            return full;
        if (then.layers === 0)
            return qsTr("%1. Nothing is on the device").arg(full);
        return then.spillTokens === undefined ? qsTr("%1; %n layer(s) on the device, no block ever leaves", "", then.layers).arg(full)
                                              : qsTr("%1; %n layer(s) on the device, the first block leaves at %2 tokens", "", then.layers).arg(full).arg(Format.count(then.spillTokens));
    }

    spacing: Theme.gapTiny

    Connections {
        target: root.placement.forecast

        function onChanged() {
            root.then = Qt.binding(() => root.placement.forecast.previewKvType(root.looked));
        }
    }
    Text {
        text: qsTr("KV is kept as")
        textFormat: Text.PlainText
        font.pixelSize: Theme.sizeSmall
        color: Theme.textMuted
    }
    Text {
        objectName: "kvTypeForetold"
        Layout.fillWidth: true
        visible: text !== ""
        text: root.foretold()
        textFormat: Text.PlainText
        wrapMode: Text.Wrap
        font.pixelSize: Theme.px(12)
        color: Theme.textMuted
    }
    ChoiceBox {
        id: box

        objectName: "kvTypeBox"
        Layout.fillWidth: true
        name: qsTr("How keys and values are kept")
        implicitHeight: Theme.px(32)
        font.pixelSize: Theme.sizeSmall
        model: [qsTr("f16: 16 bits a value"), qsTr("q8_0: half the memory, hardly any loss"), qsTr("f32: exact, and twice as large")]
        chosen: root.placement.kvType
        onActivated: index => root.placement.setKvType(index)
    }
}
