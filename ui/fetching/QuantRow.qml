// Shows one model of a repository: its quantisation, its size, whether it fits; once it is chosen, what its header
// says.
import QtQuick
import QtQuick.Controls
import QtQuick.Layouts
import Spillway.App
import Spillway.Ui.Components
import Spillway.Ui.Models
import Spillway.Ui.Theme

Rectangle {
    id: root

    required property int index
    required property string quant
    required property string name
    required property real bytes
    required property int parts
    required property modelFit fit
    required property bool recommended
    required property string reason
    required property bool here
    required property int fetchState
    required property bool usable
    required property ModelPage page

    readonly property bool narrow: width < Theme.px(420) // large text in a small window: one below the other
    readonly property bool chosen: page.chosen === index
    readonly property bool comes: fetchState === Fetch.Fetching || fetchState === Fetch.Waiting
    readonly property bool given: page.barrier === "" // this user may fetch it, as far as is known
    readonly property bool opens: here && !page.wantsMore
    readonly property string title: quant !== "" ? quant : name
    readonly property string size: parts > 1 ? Format.also(Format.bytes(bytes), qsTr("%1 files").arg(parts)) : Format.bytes(bytes)

    signal opened

    implicitHeight: column.implicitHeight + 2 * Theme.gapSmall
    radius: Theme.radius
    color: root.chosen ? Theme.raised : mouse.hovered ? Theme.hover : "transparent"
    border.width: root.chosen ? 1 : 0
    border.color: Theme.border

    HoverHandler {
        id: mouse
    }
    // Gives the button's name its words, since no item of the button's content may have an id.
    FitLabel {
        id: fitWords

        visible: false
        fit: root.fit
    }
    ColumnLayout {
        id: column

        anchors.left: parent.left
        anchors.right: parent.right
        anchors.verticalCenter: parent.verticalCenter
        anchors.leftMargin: Theme.gap
        anchors.rightMargin: Theme.gapSmall
        spacing: Theme.gapSmall

        GridLayout {
            Layout.fillWidth: true
            columns: root.narrow ? 1 : 4
            columnSpacing: Theme.gap
            rowSpacing: Theme.gapSmall

            AbstractButton {
                id: head

                objectName: "look"
                Layout.fillWidth: true
                implicitHeight: Math.max(Theme.controlHeight, implicitContentHeight)
                onClicked: root.page.look(root.index)
                Keys.onReturnPressed: event => {
                    if (!event.isAutoRepeat)
                        clicked();
                }
                Keys.onEnterPressed: event => {
                    if (!event.isAutoRepeat)
                        clicked();
                }

                Accessible.role: Accessible.Button
                Accessible.name: Format.listed([root.title, root.size, fitWords.words, root.given ? root.reason : ""])
                Accessible.onPressAction: clicked()

                background: Item {
                    FocusRing { visible: head.visualFocus }
                }
                contentItem: GridLayout {
                    columns: root.narrow ? 1 : 3
                    columnSpacing: Theme.gap
                    rowSpacing: 0

                    Text {
                        Layout.fillWidth: root.narrow
                        Layout.maximumWidth: root.narrow ? root.width : root.width / 2
                        text: root.title
                        textFormat: Text.PlainText
                        elide: Text.ElideMiddle
                        font.pixelSize: Theme.sizeBody
                        font.weight: root.recommended && root.given ? Font.DemiBold : Font.Medium
                        color: Theme.text
                        Accessible.ignored: true
                    }
                    Text {
                        Layout.fillWidth: true
                        text: root.size
                        textFormat: Text.PlainText
                        elide: Text.ElideRight
                        font.pixelSize: Theme.sizeSmall
                        color: Theme.textMuted
                        Accessible.ignored: true
                    }
                    FitLabel {
                        fit: root.fit
                    }
                }
            }
            Text {
                objectName: "comes"
                Layout.rightMargin: Theme.gapSmall
                visible: root.comes
                text: root.fetchState === Fetch.Waiting ? qsTr("Waits for its turn") : qsTr("Is being fetched")
                textFormat: Text.PlainText
                font.pixelSize: Theme.sizeSmall
                font.weight: Font.Medium
                color: Theme.textMuted
            }
            ActionButton {
                objectName: "openHere"
                visible: root.opens && !root.comes
                primary: root.chosen && root.usable
                text: qsTr("Open")
                Accessible.name: qsTr("Open %1").arg(root.title)
                onClicked: {
                    root.page.openHere(root.index);
                    root.opened();
                }
            }
            ActionButton {
                objectName: "fetch"
                visible: !root.opens && !root.comes
                primary: root.chosen && root.usable && root.given
                text: root.fetchState === Fetch.Paused ? qsTr("Go on") : qsTr("Fetch")
                Accessible.name: Format.filled(root.fetchState === Fetch.Paused ? qsTr("Go on with %1, %2") : qsTr("Fetch %1, %2"), [root.title, root.size])
                onClicked: root.page.fetch(root.index)
            }
        }
        Text {
            objectName: "reason"
            Layout.fillWidth: true
            visible: root.reason !== "" && root.given
            text: root.reason
            textFormat: Text.PlainText
            wrapMode: Text.Wrap
            font.pixelSize: Theme.sizeSmall
            color: Theme.accent
            Accessible.ignored: true
        }
        HubModelFacts {
            objectName: "lookedAt"
            Layout.fillWidth: true
            visible: root.chosen
            page: root.page
        }
    }
}
