// Names what the lines below it have in common.
import QtQuick
import Spillway.Ui.Theme

Text {
    topPadding: Theme.gap
    bottomPadding: Theme.gapSmall
    textFormat: Text.PlainText
    wrapMode: Text.Wrap
    font.pixelSize: Theme.sizeSmall
    font.weight: Font.DemiBold
    color: Theme.textMuted

    Accessible.role: Accessible.Heading
    Accessible.name: text
}
