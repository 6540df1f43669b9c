// Shows all the settings, one below the other.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Layouts
import Spillway.App
import Spillway.Ui.Components
import Spillway.Ui.Theme

ColumnLayout {
    id: root

    required property ConversationSettingsController settings
    required property bool continuesText

    signal resetDone

    spacing: Theme.gap

    SectionHeading { text: qsTr("Presets"); bottomPadding: 0 }
    PresetBar {
        Layout.fillWidth: true
        settings: root.settings
    }

    SectionHeading { text: qsTr("System prompt"); bottomPadding: 0 }
    SystemPromptBox {
        Layout.fillWidth: true
        settings: root.settings
    }
    Text {
        Layout.fillWidth: true
        visible: root.continuesText
        text: qsTr("The open model has no chat template, so it is not given a system prompt.")
        textFormat: Text.PlainText
        wrapMode: Text.Wrap
        font.pixelSize: Theme.sizeSmall
        color: Theme.warning
    }

    SectionHeading {
        visible: root.settings.templateArguments.count > 0
        text: qsTr("This model")
        bottomPadding: 0
    }
    LayoutRepeater {
        model: root.settings.templateArguments
        delegate: TemplateArgumentRow {
            Layout.fillWidth: true
            templateArguments: root.settings.templateArguments
        }
    }

    SectionHeading { text: qsTr("How words are chosen"); bottomPadding: 0 }
    LayoutRepeater {
        model: root.settings.sampling
        delegate: SamplingRow {
            Layout.fillWidth: true
            sampling: root.settings.sampling
        }
    }
    ActionButton {
        objectName: "resetAll"
        Layout.topMargin: Theme.gapSmall
        Layout.bottomMargin: Theme.gapLarge
        enabled: root.settings.changedCount > 0
        text: qsTr("Reset all")
        onClicked: {
            root.settings.resetAll();
            root.resetDone();
        }
    }
}
