// Shows, before any model is open, what can be opened and how. In a low window the picture is left out first, then the
// words, and at last the title is smaller.
import QtQuick
import QtQuick.Layouts
import Spillway.Ui.Components
import Spillway.Ui.Theme

ColumnLayout {
    id: root

    required property real room // px of height that there are
    property bool hasGuide: false

    readonly property bool roomForWords: room >= Theme.px(350)
    readonly property bool roomForHero: room >= Theme.px(220)
    readonly property bool roomForPicture: room >= Theme.px(460)

    signal openRequested
    signal guideRequested

    function takeFocus() {
        openButton.forceActiveFocus(Qt.OtherFocusReason);
    }

    spacing: Theme.gap

    Image {
        objectName: "emptyPicture"
        visible: root.roomForPicture
        Layout.alignment: Qt.AlignHCenter
        source: "qrc:/icons/spillway.svg"
        sourceSize.width: 72
        sourceSize.height: 72
        Accessible.ignored: true
    }
    Text {
        Layout.fillWidth: true
        Layout.topMargin: Theme.gapSmall
        horizontalAlignment: Text.AlignHCenter
        text: qsTr("Talk to a model on your own computer")
        textFormat: Text.PlainText
        wrapMode: Text.Wrap
        font.pixelSize: root.roomForHero ? Theme.sizeHero : Theme.sizeTitle
        font.weight: Font.DemiBold
        color: Theme.text
    }
    Text {
        visible: root.roomForWords
        Layout.fillWidth: true
        Layout.maximumWidth: Theme.px(520)
        Layout.alignment: Qt.AlignHCenter
        horizontalAlignment: Text.AlignHCenter
        text: qsTr("Spillway runs GGUF models: Llama, Mistral, Qwen, Gemma, Phi, gpt-oss and their kin. Nothing you type leaves this machine, unless you choose a model of a server.")
        textFormat: Text.PlainText
        wrapMode: Text.Wrap
        font.pixelSize: Theme.sizeBody
        lineHeight: Theme.lineHeight
        color: Theme.textMuted
    }
    ActionButton {
        id: openButton

        objectName: "openModel"
        Layout.alignment: Qt.AlignHCenter
        Layout.topMargin: Theme.gapSmall
        implicitHeight: 48
        leftPadding: Theme.gapLarge
        rightPadding: Theme.gapLarge
        primary: true
        text: qsTr("Open a model")
        icon.source: "qrc:/icons/open.svg"
        onClicked: root.openRequested()
    }
    WrappingButton {
        objectName: "openGuide"
        Layout.alignment: Qt.AlignHCenter
        room: root.width
        visible: root.hasGuide
        text: qsTr("Open the guide, which is small and built in")
        onClicked: root.guideRequested()
    }
    Text {
        visible: root.roomForWords
        Layout.alignment: Qt.AlignHCenter
        text: qsTr("or drop a .gguf file here  ·  Ctrl+O")
        textFormat: Text.PlainText
        font.pixelSize: Theme.sizeSmall
        color: Theme.textMuted
    }
}
