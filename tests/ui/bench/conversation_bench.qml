// Shows the list of messages alone, to be measured.
import QtQuick
import Spillway.Tests
import Spillway.Ui.Chat

MessageList {
    chat: Bench.chat
    columnWidth: 760
}
