// Holds colours, distances and sizes of the whole window. Text has a contrast of at least 4.5 to 1 with its ground
// (tested).
pragma Singleton

import QtQuick

QtObject {
    id: root

    property bool dark: false // both set once, by Main
    property real scale: 1    // chosen by the user; all sizes in pixels are multiplied by it

    function px(pixels: real): int {
        return Math.round(pixels * root.scale);
    }
    // Returns a mixture of two colours; `way`: 0 is the first, 1 the second.
    function between(from: color, to: color, way: real): color {
        return Qt.rgba(from.r + way * (to.r - from.r), from.g + way * (to.g - from.g), from.b + way * (to.b - from.b), from.a + way * (to.a - from.a));
    }

    // ---- colours ----
    readonly property color ground: dark ? "#15181b" : "#fafaf8"
    readonly property color raised: dark ? "#1d2125" : "#ffffff"   // cards, composer
    readonly property color sunken: dark ? "#24292e" : "#f0f1ee"   // the user's words, tracks
    readonly property color aside: dark ? "#111416" : "#f2f3f0"    // the columns beside the page
    readonly property color hover: dark ? "#2a3036" : "#e9ebe8"
    readonly property color selected: dark ? "#1f3134" : "#dceaea" // the row that is shown
    readonly property color border: dark ? "#31383e" : "#dfe2de"
    readonly property color borderStrong: dark ? "#46505a" : "#c3c9c5"
    readonly property color text: dark ? "#e7eaec" : "#1c2124"
    readonly property color textMuted: dark ? "#a2acb4" : "#5a656b"
    readonly property color accent: dark ? "#56bcc2" : "#0b6e75"
    readonly property color accentHover: dark ? "#6fcbd0" : "#095b61"
    readonly property color accentInk: dark ? "#0c1416" : "#ffffff"
    readonly property color warning: dark ? "#e0b054" : "#8a5a00"
    readonly property color warningGround: dark ? "#2b2619" : "#fdf5e3"
    readonly property color danger: dark ? "#f08a80" : "#b3261e"
    readonly property color dangerHover: dark ? "#f5a49c" : "#8f1d17"
    readonly property color dangerInk: dark ? "#2e1f1e" : "#ffffff" // text on `danger`
    readonly property color dangerGround: dark ? "#2e1f1e" : "#fdf0ee"
    readonly property color codeGround: dark ? "#1b1f23" : "#f3f4f1"
    // Colours of words in code, in the order of CodeWord: comment, string, number, keyword, type, function, added,
    // removed.
    readonly property var codeColors: dark
        ? ["#93a0a8", "#a5cf8d", "#e0ab7a", "#c8a2e8", "#5fc4cf", "#85b7f0", "#8fd19e", "#f08a80"]
        : ["#5f6b72", "#2f6b2a", "#8a4b0f", "#7b36a8", "#0b6a78", "#1f56a8", "#1d6b34", "#b3261e"]
    readonly property color guessed: dark ? "#1d4346" : "#cfe9ea" // behind what was guessed ahead
    readonly property color written: dark ? "#b79be0" : "#7a4fb5" // in charts: the message that is being written
    // Colours of the pressure panel. They can be told apart with every kind of colour vision: after Okabe and Ito
    // (2008).
    readonly property color weights: dark ? "#4f9fdc" : "#0072b2"
    readonly property color experts: dark ? "#8a5ae0" : "#5b2a86" // copies of them on the device
    readonly property color kvOnDevice: dark ? "#35c39a" : "#009e73"
    readonly property color kvOnHost: dark ? "#f0a830" : "#e69f00"
    readonly property color kvMoving: dark ? "#f4ec6a" : "#d1c400"
    readonly property color state: dark ? "#b5e0fa" : "#56b4e9" // of recurrent layers
    readonly property color scratch: dark ? "#d793b8" : "#cc79a7"
    readonly property color otherPrograms: dark ? "#5f6a73" : "#b4babd"
    readonly property color watermark: dark ? "#ff8a4c" : "#d55e00"
    readonly property color selection: dark ? "#2c5b60" : "#bfe3e5"

    // ---- distances: multiples of 4, before scaling ----
    readonly property int gapTiny: px(4)
    readonly property int gapSmall: px(8)
    readonly property int gap: px(16)
    readonly property int gapLarge: px(24)
    readonly property int gapHuge: px(40)

    readonly property int columnWidth: px(760) // of the conversation: about 90 characters a line
    readonly property int topBarHeight: px(60)
    readonly property int controlHeight: px(36)
    readonly property int radiusSmall: px(8)
    readonly property int radius: px(12)
    readonly property int radiusLarge: px(18)

    // ---- type, in pixels ----
    readonly property string family: "Inter"
    readonly property string monospace: "monospace" // the system's
    readonly property string serif: "serif"         // of formulas
    readonly property int sizeSmall: px(13)
    readonly property int sizeBody: px(15)
    readonly property int sizeCode: px(14)
    readonly property int sizeTitle: px(20)
    readonly property int sizeHero: px(28)
    readonly property real lineHeight: 1.45

    readonly property int fast: 120 // ms
}
