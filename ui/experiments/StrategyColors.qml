// Gives each strategy a colour, in the order of Strategy; they can be told apart with every kind of colour vision.
import QtQuick
import Spillway.Ui.Theme

QtObject {
    readonly property var all: [Theme.textMuted, Theme.weights, Theme.kvOnHost, Theme.kvOnDevice, Theme.watermark, Theme.scratch]
}
