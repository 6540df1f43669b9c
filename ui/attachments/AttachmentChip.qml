// Shows one attached file: its name and size, its cost in tokens, and the buttons for what can be done with it.
import QtQuick
import QtQuick.Controls
import QtQuick.Layouts
import Spillway.Ui.Components
import Spillway.Ui.Theme

AbstractButton {
    id: root

    required property string name
    required property real bytes
    required property var tokens // undefined: not known
    required property string sentence // why it cannot be sent; empty: it can
    property bool busy: false // it is being read or counted
    property bool removable: false
    property bool takesIn: false // its text can be put into the message
    property int widest: Theme.px(300)

    readonly property bool failed: sentence !== ""

    signal removeRequested
    signal takeInRequested

    function facts(): string {
        if (failed)
            return "";
        let all = bytes > 0 ? Format.bytes(bytes) : qsTr("Reading…");
        if (tokens !== undefined)
            all = Format.also(all, tokens === 1 ? qsTr("1 token") : qsTr("%1 tokens").arg(Format.count(tokens)));
        else if (busy && bytes > 0)
            all = Format.also(all, qsTr("counting…"));
        return all;
    }

    implicitWidth: failed ? widest : Math.min(widest, implicitContentWidth + leftPadding + rightPadding)
    implicitHeight: Math.max(Theme.px(46), implicitContentHeight + 2 * Theme.gapTiny)
    leftPadding: Theme.gapSmall + 2
    rightPadding: removable ? Theme.gapTiny : Theme.gap
    hoverEnabled: true

    Accessible.role: Accessible.Button
    Accessible.name: failed ? sentence : Format.filled(qsTr("%1, %2"), [name, facts()])
    Accessible.description: failed ? "" : qsTr("Shows the text that the model reads")
    Accessible.onPressAction: root.clicked()
    Keys.onReturnPressed: event => {
        if (!event.isAutoRepeat)
            clicked();
    }
    Keys.onEnterPressed: event => {
        if (!event.isAutoRepeat)
            clicked();
    }
    // Takes Del from the window while it can remove this file.
    Keys.onShortcutOverride: event => event.accepted = root.removable && event.key === Qt.Key_Delete
    Keys.onDeletePressed: {
        if (root.removable)
            root.removeRequested();
    }

    background: Rectangle {
        radius: Theme.radius
        color: root.failed ? Theme.dangerGround : root.hovered && root.enabled ? Theme.hover : Theme.sunken
        border.width: root.failed ? 1 : 0
        border.color: Qt.alpha(Theme.danger, 0.35)

        FocusRing { visible: root.visualFocus }
    }
    contentItem: RowLayout {
        spacing: Theme.gapSmall

        Picture {
            source: root.failed ? "qrc:/icons/warning.svg" : "qrc:/icons/file.svg"
            ink: root.failed ? Theme.danger : Theme.accent
        }
        ColumnLayout {
            spacing: 0

            Text {
                objectName: "chipName"
                Layout.fillWidth: true
                text: root.failed ? root.sentence : root.name
                textFormat: Text.PlainText
                elide: root.failed ? Text.ElideNone : Text.ElideMiddle
                wrapMode: root.failed ? Text.Wrap : Text.NoWrap
                font.pixelSize: Theme.sizeSmall
                font.weight: root.failed ? Font.Normal : Font.Medium
                color: Theme.text
                Accessible.ignored: true
            }
            Text {
                objectName: "chipFacts"
                Layout.fillWidth: true
                visible: text !== ""
                text: root.facts()
                textFormat: Text.PlainText
                elide: Text.ElideRight
                font.pixelSize: Theme.px(12)
                color: Theme.textMuted
                Accessible.ignored: true
            }
        }
        IconButton {
            objectName: "takeInAttachment"
            visible: root.takesIn
            size: Theme.px(30)
            pictureSize: Theme.px(16)
            name: qsTr("Put the text of %1 into the message").arg(root.name)
            tip: qsTr("Put its text into the message")
            source: "qrc:/icons/edit.svg"
            onClicked: root.takeInRequested()
        }
        IconButton {
            objectName: "removeAttachment"
            visible: root.removable
            size: Theme.px(30)
            pictureSize: Theme.px(16)
            name: root.failed ? qsTr("Dismiss") : qsTr("Remove %1").arg(root.name)
            source: "qrc:/icons/close.svg"
            onClicked: root.removeRequested()
        }
    }
}
