// Shows the folders in which models are looked for, and how many were found in each.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Layouts
import Spillway.App
import Spillway.Ui.Components
import Spillway.Ui.Theme

ColumnLayout {
    id: root

    required property CatalogueController catalogue

    signal addRequested
    signal removeRequested(string path)

    spacing: 0

    RowLayout {
        Layout.fillWidth: true
        Layout.topMargin: Theme.gap
        spacing: Theme.gapSmall

        SectionHeading {
            Layout.fillWidth: true
            text: qsTr("Where Spillway looks")
        }
        ActionButton {
            objectName: "addFolder"
            text: qsTr("Add a folder…")
            icon.source: "qrc:/icons/folder.svg"
            onClicked: root.addRequested()
        }
    }
    LayoutRepeater {
        model: root.catalogue.places

        RowLayout {
            id: place

            required property modelPlace modelData

            Layout.fillWidth: true
            Layout.preferredHeight: Theme.px(40)
            visible: modelData.there || modelData.own
            spacing: Theme.gapSmall

            StoreBadge {
                name: place.modelData.name
            }
            Text {
                Layout.fillWidth: true
                text: place.modelData.shownPath
                textFormat: Text.PlainText
                elide: Text.ElideMiddle
                font.pixelSize: Theme.sizeSmall
                color: Theme.text
            }
            Text {
                text: !place.modelData.there ? qsTr("not there")
                    : place.modelData.note !== "" ? Format.models(place.modelData.models) + ", " + place.modelData.note
                    : Format.models(place.modelData.models)
                textFormat: Text.PlainText
                font.pixelSize: Theme.sizeSmall
                color: place.modelData.there ? Theme.textMuted : Theme.warning
            }
            IconButton {
                objectName: place.modelData.own ? "removeFolder" : ""
                visible: place.modelData.own
                name: qsTr("Look there no more")
                source: "qrc:/icons/close.svg"
                onClicked: root.removeRequested(place.modelData.path)
            }
        }
    }
    Text {
        Layout.fillWidth: true
        Layout.topMargin: Theme.gapSmall
        Layout.bottomMargin: Theme.gapLarge
        text: qsTr("Models of other programs are read where they are; nothing is copied, and nothing changed unless you delete it.")
        textFormat: Text.PlainText
        wrapMode: Text.Wrap
        font.pixelSize: Theme.sizeSmall
        color: Theme.textMuted
    }
}
