// Shows a file that goes with a repository's models: its purpose, and whether it is to be fetched with the next one.
import QtQuick
import QtQuick.Controls
import QtQuick.Layouts
import Spillway.App
import Spillway.Ui.Components
import Spillway.Ui.Theme

AbstractButton {
    id: root

    required property int index
    property modelCompanion companion
    property modelCompanion none // an empty value, for a companion that is gone

    readonly property string size: Format.bytes(companion.bytes)
    readonly property string purpose: companion.kind === Companion.Drafter
        ? qsTr("Guesses several words ahead, so that answers come faster. Spillway does not use it yet.")
        : qsTr("Lets the model see pictures or hear sounds. Spillway does not use it yet; other programs do.")

    signal ticked(bool wanted)

    implicitHeight: implicitContentHeight + 2 * Theme.gapSmall
    leftPadding: Theme.gap
    rightPadding: Theme.gap
    hoverEnabled: true
    onClicked: ticked(!companion.wanted)
    Keys.onReturnPressed: event => {
        if (!event.isAutoRepeat)
            clicked();
    }
    Keys.onEnterPressed: event => {
        if (!event.isAutoRepeat)
            clicked();
    }

    Accessible.role: Accessible.CheckBox
    Accessible.name: Format.listed([root.companion.name, root.size])
    Accessible.description: root.purpose
    Accessible.checkable: true
    Accessible.checked: root.companion.wanted
    Accessible.onPressAction: root.clicked()
    Accessible.onToggleAction: root.clicked()

    background: Rectangle {
        radius: Theme.radius
        color: root.hovered || root.down ? Theme.hover : "transparent"

        FocusRing { visible: root.visualFocus }
    }
    contentItem: RowLayout {
        spacing: Theme.gap

        Rectangle {
            Layout.preferredWidth: Theme.px(20)
            Layout.preferredHeight: Theme.px(20)
            radius: Theme.px(4) // rounder, it would look like a radio button
            color: root.companion.wanted ? Theme.accent : "transparent"
            border.width: root.companion.wanted ? 0 : 1
            border.color: Theme.textMuted

            Picture {
                anchors.centerIn: parent
                visible: root.companion.wanted
                source: "qrc:/icons/check.svg"
                size: Theme.px(16)
                ink: Theme.accentInk
            }
        }
        ColumnLayout {
            Layout.fillWidth: true
            spacing: 2

            Text {
                Layout.fillWidth: true
                text: Format.also(root.companion.name, root.size)
                textFormat: Text.PlainText
                elide: Text.ElideMiddle
                font.pixelSize: Theme.sizeBody
                color: Theme.text
                Accessible.ignored: true
            }
            Text {
                Layout.fillWidth: true
                text: root.purpose
                textFormat: Text.PlainText
                wrapMode: Text.Wrap
                font.pixelSize: Theme.sizeSmall
                color: Theme.textMuted
                Accessible.ignored: true
            }
        }
    }
}
