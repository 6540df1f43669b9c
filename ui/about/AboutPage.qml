// Shows what this program is, which build of it this is, and whose work it stands on.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Layouts
import Spillway.App
import Spillway.Ui.Components
import Spillway.Ui.Theme

Page {
    id: root

    required property ProgramController program

    title: qsTr("About")

    RowLayout {
        Layout.fillWidth: true
        Layout.topMargin: Theme.gapSmall
        spacing: Theme.gap

        Image {
            source: "qrc:/icons/spillway.svg"
            sourceSize.width: Theme.px(56)
            sourceSize.height: Theme.px(56)
            Accessible.ignored: true
        }
        ColumnLayout {
            Layout.fillWidth: true
            spacing: 2

            Text {
                objectName: "version"
                Layout.fillWidth: true
                text: qsTr("Spillway %1").arg(root.program.version)
                textFormat: Text.PlainText
                font.pixelSize: Theme.sizeTitle
                font.weight: Font.DemiBold
                color: Theme.text
            }
            Text {
                Layout.fillWidth: true
                text: qsTr("Talk to language models on your own computer, and see where their memory lives.")
                textFormat: Text.PlainText
                wrapMode: Text.Wrap
                font.pixelSize: Theme.sizeBody
                color: Theme.textMuted
            }
        }
    }
    Text {
        Layout.fillWidth: true
        Layout.topMargin: Theme.gapSmall
        text: qsTr("Free software: you may use, study, share and change it under the GNU General Public License, version 3 or later. It comes without any warranty.")
        textFormat: Text.PlainText
        wrapMode: Text.Wrap
        font.pixelSize: Theme.sizeBody
        lineHeight: Theme.lineHeight
        color: Theme.text
    }
    SectionHeading {
        Layout.fillWidth: true
        text: qsTr("This build")
    }
    Rectangle {
        Layout.fillWidth: true
        implicitHeight: facts.implicitHeight + 2 * Theme.gap
        radius: Theme.radius
        color: Theme.raised
        border.width: 1
        border.color: Theme.border

        RowLayout {
            id: facts

            anchors.left: parent.left
            anchors.right: parent.right
            anchors.verticalCenter: parent.verticalCenter
            anchors.margins: Theme.gap
            spacing: Theme.gap

            Text {
                objectName: "facts"
                Layout.fillWidth: true
                text: root.program.facts
                textFormat: Text.PlainText
                wrapMode: Text.Wrap
                font.pixelSize: Theme.sizeSmall
                lineHeight: Theme.lineHeight
                color: Theme.text
            }
            ActionButton {
                objectName: "copyFacts"
                Layout.alignment: Qt.AlignTop
                text: done.running ? qsTr("Copied") : qsTr("Copy")
                Accessible.name: qsTr("Copy these facts for a bug report")
                icon.source: done.running ? "qrc:/icons/check.svg" : "qrc:/icons/copy.svg"
                onClicked: {
                    root.program.copyFacts();
                    done.restart();
                }

                Timer {
                    id: done
                    interval: 1500
                }
            }
        }
    }
    SectionHeading {
        Layout.fillWidth: true
        text: qsTr("Licences")
    }
    LayoutRepeater {
        model: LicenceModel {
            id: licences
        }
        delegate: LicenceRow {
            objectName: "licence" + index
            onClicked: {
                reader.title = name;
                reader.text = licences.text(index);
                reader.open();
            }
        }
    }

    LicenceText {
        id: reader

        objectName: "licenceReader"
    }
}
