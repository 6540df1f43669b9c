// Shows one repository of the hub: its models by quantisation, whether the chosen one fits here and how fast it would
// be, and its card.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Layouts
import Spillway.App
import Spillway.Ui.Chat
import Spillway.Ui.Components
import Spillway.Ui.Theme

ColumnLayout {
    id: root

    required property ModelPage page
    required property string host
    required property bool hasToken

    readonly property string summary: {
        let parts = page.licence === "" ? qsTr("No licence is named") : qsTr("Licence: %1").arg(page.licence);
        if (page.downloads > 0)
            parts = Format.also(parts, qsTr("%1 fetched it last month").arg(Format.compact(page.downloads)));
        return parts;
    }

    signal opened
    signal tokenRequested

    spacing: Theme.gapSmall

    LinkDialog {
        id: linkDialog
    }
    ProgressLine {
        objectName: "modelBusy"
        Layout.fillWidth: true
        visible: root.page.busy
        indeterminate: true
        Accessible.name: qsTr("Asking %1").arg(root.host)
    }
    Notice {
        objectName: "hubModelError"
        Layout.fillWidth: true
        visible: root.page.error !== ""
        sentence: root.page.error
        actionText: root.page.wantsToken ? qsTr("Enter a token") : qsTr("Try again")
        dismissible: false
        onActionRequested: root.page.wantsToken ? root.tokenRequested() : root.page.retry()
    }
    GridLayout {
        Layout.fillWidth: true
        Layout.topMargin: Theme.gapSmall
        visible: root.page.ready
        columns: root.width < Theme.px(420) ? 1 : 2 // large text in a small window
        columnSpacing: Theme.gapSmall
        rowSpacing: Theme.gapSmall

        Text {
            objectName: "hubModelSummary"
            Layout.fillWidth: true
            text: root.summary
            textFormat: Text.PlainText
            wrapMode: Text.Wrap
            font.pixelSize: Theme.sizeSmall
            color: Theme.textMuted
        }
        ActionButton {
            objectName: "showOnHub"
            visible: root.page.webPage !== ""
            primary: root.page.barrier !== "" && !gated.wantsToken // leads to the page where the terms are accepted
            text: qsTr("See it on %1").arg(root.host)
            icon.source: "qrc:/icons/window.svg"
            Accessible.description: qsTr("Opens it in the browser")
            onClicked: Links.open(root.page.webPage)
        }
    }
    Notice {
        id: gated

        readonly property bool wantsToken: !root.hasToken || root.page.barrierWantsToken

        objectName: "gatedNotice"
        Layout.fillWidth: true
        visible: root.page.barrier !== ""
        kind: Notice.Warning
        dismissible: false
        sentence: root.page.barrier
        actionText: wantsToken ? qsTr("Enter a token") : qsTr("Try again")
        actionPrimary: wantsToken
        onActionRequested: wantsToken ? root.tokenRequested() : root.page.look(root.page.chosen)
    }
    Text {
        objectName: "noFiles"
        Layout.fillWidth: true
        visible: root.page.ready && choices.count === 0
        text: qsTr("There is no GGUF model in it.")
        textFormat: Text.PlainText
        font.pixelSize: Theme.sizeBody
        color: Theme.textMuted
    }
    LayoutRepeater {
        id: choices

        model: root.page.choices

        QuantRow {
            objectName: "quant" + index
            Layout.fillWidth: true
            page: root.page
            onOpened: root.opened()
        }
    }
    SectionHeading {
        objectName: "companions"
        Layout.fillWidth: true
        visible: root.page.companions.length > 0
        text: qsTr("Fetched with it where you tick them")
    }
    LayoutRepeater {
        model: root.page.companions.length // a number: the rows are kept while one is ticked

        CompanionRow {
            objectName: "companion" + index
            Layout.fillWidth: true
            companion: root.page.companions[index] ?? none // the companion may just have been removed
            onTicked: wanted => root.page.setWanted(index, wanted)
        }
    }
    SectionHeading {
        Layout.fillWidth: true
        visible: root.page.card !== null
        text: qsTr("What its publisher says")
    }
    Blocks {
        objectName: "card"
        Layout.fillWidth: true
        visible: root.page.card !== null
        blocks: root.page.card
        onCopyRequested: text => root.page.copy(text)
        onLinkRequested: link => linkDialog.ask(link)
    }
}
