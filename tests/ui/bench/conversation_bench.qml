// The list of messages alone.
import QtQuick
import Spillway.Tests
import Spillway.Ui.Chat

MessageList {
    chat: Bench.chat
    columnWidth: 760
}
