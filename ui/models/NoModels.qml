// Says, where there is no model, how to get one.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Layouts
import Spillway.Ui.Components
import Spillway.Ui.Theme

ColumnLayout {
    id: root

    required property real room // px of height that there are
    property bool hasGuide: false
    property bool canFind: false // models can be searched for on the network
    property bool canReach: false // models of servers can be used

    signal findRequested
    signal serversRequested
    signal addRequested
    signal openFileRequested

    readonly property var steps: [
        root.canFind ? qsTr("Find a model here: a short list of good first ones, and a search. Or bring a file that ends in .gguf.")
                     : qsTr("Get a model: a file that ends in .gguf. On huggingface.co, search for the name of a model and “GGUF”."),
        qsTr("Q4_K_M in its name is a good start. The file should be smaller than half of your memory: 2 to 5 GB suit most computers."),
        qsTr("Add the folder it lies in, or open the file. What Ollama, LM Studio, Jan, GPT4All, llama.cpp and Hugging Face have fetched is found by itself.")
    ]

    spacing: Theme.gap

    Picture {
        objectName: "noModelsPicture"
        visible: root.room >= Theme.px(450) // true in a window of 500 px height
        Layout.alignment: Qt.AlignHCenter
        source: "qrc:/icons/models.svg"
        size: Theme.px(48)
    }
    Text {
        Layout.fillWidth: true
        horizontalAlignment: Text.AlignHCenter
        text: root.hasGuide ? qsTr("No models yet besides the guide") : qsTr("No models yet")
        textFormat: Text.PlainText
        wrapMode: Text.Wrap
        font.pixelSize: Theme.sizeTitle
        font.weight: Font.DemiBold
        color: Theme.text
    }
    LayoutRepeater {
        model: root.steps

        RowLayout {
            id: step

            required property int index
            required property string modelData

            Layout.alignment: Qt.AlignHCenter
            Layout.maximumWidth: Theme.px(520)
            Layout.fillWidth: true
            spacing: Theme.gap

            Rectangle {
                Layout.alignment: Qt.AlignTop
                implicitWidth: Theme.px(26)
                implicitHeight: implicitWidth
                radius: width / 2
                color: Theme.sunken

                Text {
                    anchors.centerIn: parent
                    text: step.index + 1
                    font.pixelSize: Theme.sizeSmall
                    font.weight: Font.DemiBold
                    color: Theme.textMuted
                }
            }
            Text {
                Layout.fillWidth: true
                text: step.modelData
                textFormat: Text.PlainText
                wrapMode: Text.Wrap
                font.pixelSize: Theme.sizeBody
                lineHeight: Theme.lineHeight
                color: Theme.textMuted
            }
        }
    }
    CentredFlow {
        id: ways

        Layout.fillWidth: true
        Layout.topMargin: Theme.gapSmall
        spacing: Theme.gapSmall

        ActionButton {
            objectName: "emptyFind"
            visible: root.canFind
            width: Math.min(implicitWidth, ways.width)
            primary: true
            text: qsTr("Find models")
            icon.source: "qrc:/icons/search.svg"
            onClicked: root.findRequested()
        }
        ActionButton {
            objectName: "emptyAddFolder"
            width: Math.min(implicitWidth, ways.width)
            primary: !root.canFind
            text: qsTr("Add a folder…")
            icon.source: "qrc:/icons/folder.svg"
            onClicked: root.addRequested()
        }
        ActionButton {
            objectName: "emptyOpenFile"
            width: Math.min(implicitWidth, ways.width)
            text: qsTr("Open a file…")
            icon.source: "qrc:/icons/open.svg"
            onClicked: root.openFileRequested()
        }
        ActionButton {
            objectName: "emptyServers"
            visible: root.canReach
            width: Math.min(implicitWidth, ways.width)
            text: qsTr("Use a model of a server…")
            icon.source: "qrc:/icons/server.svg"
            onClicked: root.serversRequested()
        }
    }
}
