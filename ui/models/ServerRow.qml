// Shows one server, added or found: what it is, what it has, and why it did not answer.
import QtQuick
import QtQuick.Layouts
import Spillway.App
import Spillway.Ui.Components
import Spillway.Ui.Theme

RowLayout {
    id: root

    required property serverEntry modelData

    readonly property serverEntry entry: modelData
    readonly property string keyPlace: !entry.hasKey ? "" : entry.keyInFile ? qsTr("key in a private file")
                                                                          : qsTr("key in the password store")
    readonly property string summary: {
        let parts = entry.name === entry.host ? "" : entry.host;
        for (const part of [entry.program, addable && entry.trouble !== "" ? "" : Format.models(entry.models), keyPlace,
                            entry.inClear ? qsTr("not encrypted") : ""]) {
            if (part !== "")
                parts = parts === "" ? part : Format.also(parts, part);
        }
        return parts;
    }

    property bool addable: false // it was found, and is not added yet

    signal removeRequested
    signal addRequested

    spacing: Theme.gap

    Accessible.role: Accessible.ListItem
    Accessible.name: Format.listed([root.entry.name, root.summary, root.entry.trouble])

    Picture {
        source: root.entry.trouble === "" ? "qrc:/icons/server.svg" : "qrc:/icons/warning.svg"
        size: Theme.px(24)
        ink: root.entry.trouble === "" ? Theme.textMuted : Theme.warning
    }
    ColumnLayout {
        Layout.fillWidth: true
        Layout.minimumHeight: Theme.px(52)
        spacing: Theme.px(3)

        Text {
            objectName: "serverTitle"
            Layout.fillWidth: true
            text: root.entry.name
            textFormat: Text.PlainText
            wrapMode: Text.Wrap
            font.pixelSize: Theme.sizeBody
            font.weight: Font.DemiBold
            color: Theme.text
            Accessible.ignored: true
        }
        Text {
            objectName: "serverSummary"
            Layout.fillWidth: true
            text: root.summary
            textFormat: Text.PlainText
            wrapMode: Text.Wrap
            font.pixelSize: Theme.sizeSmall
            color: Theme.textMuted
            Accessible.ignored: true
        }
        Text {
            objectName: "serverRowTrouble"
            Layout.fillWidth: true
            visible: root.entry.trouble !== ""
            text: root.entry.trouble
            textFormat: Text.PlainText
            wrapMode: Text.Wrap
            font.pixelSize: Theme.sizeSmall
            color: Theme.danger
            Accessible.ignored: true
        }
    }
    ProgressLine {
        Layout.preferredWidth: Theme.px(64)
        visible: root.entry.asking
        indeterminate: true
        Accessible.name: qsTr("Asking %1 what it is").arg(root.entry.name)
    }
    ActionButton {
        objectName: "addFound"
        visible: root.addable
        text: qsTr("Add")
        Accessible.name: qsTr("Add %1").arg(root.entry.name)
        onClicked: root.addRequested()
    }
    IconButton {
        objectName: "removeServer"
        visible: !root.addable
        name: qsTr("Remove %1").arg(root.entry.name)
        source: "qrc:/icons/close.svg"
        onClicked: root.removeRequested()
    }
}
