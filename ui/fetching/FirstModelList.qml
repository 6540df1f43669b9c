// A few good models to begin with, the smallest first.
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

    // What fits changes while one looks elsewhere.
    onVisibleChanged: {
        if (visible)
            root.finder.measure();
    }

    SectionHeading {
        Layout.fillWidth: true
        text: qsTr("Good first models, as of %1").arg(new Date(root.finder.firstDateMs).toLocaleDateString(Format.locale, Locale.ShortFormat))
    }
    Repeater {
        model: root.finder.first

        LinkRow {
            required property int index
            required property firstModel modelData

            objectName: "firstModel" + index
            Layout.fillWidth: true
            title: modelData.name
            summary: Format.also(Format.also(modelData.modelId, qsTr("about %1").arg(Format.bytes(modelData.bytes))), modelData.licence)
            fact: modelData.fits ? "" : qsTr("Too large for the memory that is free")
            onClicked: root.chosen(modelData.modelId)
        }
    }
}
