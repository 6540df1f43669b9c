// Offers a few good models to begin with, the smallest first.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Layouts
import Spillway.App
import Spillway.Ui.Components
import Spillway.Ui.Theme

ColumnLayout {
    id: root

    required property ModelFinder finder

    signal chosen(string id)

    spacing: 2

    // Measures again what fits, since memory may have changed meanwhile.
    onVisibleChanged: {
        if (visible)
            root.finder.measure();
    }

    SectionHeading {
        objectName: "firstHeading"
        Layout.fillWidth: true
        text: qsTr("Good first models, as of %1").arg(Format.date(root.finder.firstDateMs))
    }
    LayoutRepeater {
        model: root.finder.first.length // the rows stay while what fits is found out: else they would go in the middle of being laid out

        LinkRow {
            required property int index
            readonly property firstModel model: root.finder.first[index]

            objectName: "firstModel" + index
            Layout.fillWidth: true
            title: model.name
            summary: Format.also(Format.also(model.modelId, qsTr("about %1").arg(Format.bytes(model.bytes))), model.licence)
            fact: model.fits ? "" : qsTr("Too large for the memory that is free")
            onClicked: root.chosen(model.modelId)
        }
    }
}
