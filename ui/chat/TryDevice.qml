// Offers those without a GPU, before the first word, a small emulated graphics memory to look at, and then says what
// there is to see.
import QtQuick
import QtQuick.Layouts
import Spillway.App
import Spillway.Ui.Components
import Spillway.Ui.Theme

ColumnLayout {
    id: root

    required property DeviceController devices
    required property int room // px of width that there are

    readonly property bool wanted: devices.offered || devices.tried

    function whatHappens(): string {
        switch (devices.room) {
        case DeviceController.NoLayer:
            return qsTr("The emulated memory is too small for even one layer of this model: the CPU computes all of them. The panel “Memory pressure” can give it more.");
        case DeviceController.ForAll:
            return qsTr("The emulated memory has room for all that this model remembers: nothing will have to leave it. The panel “Memory pressure” can make it smaller.");
        case DeviceController.BlocksLeave:
            return qsTr("The emulated memory has room for about %1 tokens. Ask, and watch the panel “Memory pressure”: when the memory is full, the oldest blocks leave and the speed falls.").arg(Format.count(devices.roomTokens));
        case DeviceController.AnswersStop:
            return qsTr("The emulated memory has room for about %1 tokens. Ask, and watch the panel “Memory pressure”: when the memory is full, the answer stops, for the policy is “resident”.").arg(Format.count(devices.roomTokens));
        }
        return qsTr("Ask, and watch the panel “Memory pressure”: when the emulated memory is full, the oldest blocks leave and the speed falls.");
    }

    spacing: Theme.gapSmall

    RowLayout {
        Layout.alignment: Qt.AlignHCenter
        visible: root.devices.offered
        spacing: Theme.gapTiny

        WrappingButton {
            objectName: "tryDevice"
            room: root.room - dismiss.implicitWidth - Theme.gapTiny
            text: qsTr("Try it with a small graphics memory")
            onClicked: root.devices.tryEmulated()
        }
        IconButton {
            id: dismiss

            objectName: "dismissOffer"
            name: qsTr("Do not offer this again")
            source: "qrc:/icons/close.svg"
            onClicked: root.devices.dismissOffer()
        }
    }
    Text {
        objectName: "tryNote"
        Layout.fillWidth: true
        horizontalAlignment: Text.AlignHCenter
        text: root.devices.offered ? qsTr("An emulated one, made of RAM. It shows what happens when a conversation outgrows it.")
                                   : root.whatHappens()
        textFormat: Text.PlainText
        wrapMode: Text.Wrap
        font.pixelSize: Theme.sizeSmall
        lineHeight: Theme.lineHeight
        color: Theme.textMuted
    }
}
