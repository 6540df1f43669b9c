// Tests that text keeps a contrast of 4.5 to 1 (WCAG AA) on every ground it stands on, light and dark, and a mark of a
// state 3 to 1.
import QtQuick
import QtTest
import Spillway.Ui.Components
import Spillway.Ui.Theme

TestCase {
    id: root

    name: "Theme"

    function luminance(color) {
        const linear = part => part <= 0.04045 ? part / 12.92 : Math.pow((part + 0.055) / 1.055, 2.4);
        return 0.2126 * linear(color.r) + 0.7152 * linear(color.g) + 0.0722 * linear(color.b);
    }

    function contrast(one, other) {
        const a = luminance(one), b = luminance(other);
        return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    }

    function test_contrast_data() {
        return [{ tag: "light", dark: false }, { tag: "dark", dark: true }];
    }

    function test_contrast(data) {
        Theme.dark = data.dark;
        const pairs = [
            ["text", "ground", 4.5], ["text", "raised", 4.5], ["text", "sunken", 4.5], ["text", "hover", 4.5],
            ["text", "selection", 4.5], ["text", "guessed", 4.5], ["text", "dangerGround", 4.5], ["text", "warningGround", 4.5],
            ["textMuted", "ground", 4.5], ["textMuted", "raised", 4.5], ["textMuted", "hover", 4.5],
            ["accentInk", "accent", 4.5], ["accentInk", "accentHover", 4.5], ["warning", "ground", 4.5],
            ["text", "codeGround", 4.5], ["textMuted", "codeGround", 4.5], ["accent", "sunken", 4.5],
            ["danger", "ground", 4.5], ["danger", "raised", 4.5], ["ground", "text", 4.5],
            ["accent", "ground", 3], ["accent", "raised", 3],
            ["dangerInk", "danger", 4.5], ["dangerInk", "dangerHover", 4.5]
        ];
        for (const [ink, ground, least] of pairs) {
            const found = contrast(Theme[ink], Theme[ground]);
            verify(found >= least, ink + " on " + ground + ": " + found.toFixed(2));
        }
        compare(Theme.codeColors.length, 8);
        for (let i = 0; i < 8; ++i) {
            const found = contrast(Qt.lighter(Theme.codeColors[i], 1), Theme.codeGround);
            verify(found >= 4.5, "code " + i + ": " + found.toFixed(2));
        }
        Theme.dark = false;
    }

    // The theme is set when the window is there: a colour that fades to it would show the other one at the start.
    function test_a_theme_is_there_at_once() {
        const button = createTemporaryObject(actionButton, root), icon = createTemporaryObject(iconButton, root);
        Theme.dark = true;
        verify(Qt.colorEqual(button.background.color, Theme.raised), button.background.color);
        verify(Qt.colorEqual(icon.background.color, Theme.accent), icon.background.color);
        button.primary = true;
        verify(Qt.colorEqual(button.background.color, Theme.accent), button.background.color);
        Theme.dark = false;
        verify(Qt.colorEqual(button.background.color, Theme.accent), button.background.color);
    }
    Component {
        id: actionButton

        ActionButton { text: "Load" }
    }
    Component {
        id: iconButton

        IconButton {
            name: "Send"
            source: ""
            filled: true
        }
    }

    function test_numbers_data() {
        return [
            { tag: "parameters", got: Format.compact(1235814432), expected: "1.24\u00a0B" },
            { tag: "a few", got: Format.compact(260), expected: "260" },
            { tag: "thousands", got: Format.compact(292000), expected: "292\u00a0K" },
            { tag: "bytes", got: Format.bytes(999), expected: "999\u00a0B" },
            { tag: "kilobytes", got: Format.bytes(1200), expected: "1.2\u00a0kB" },
            { tag: "gigabytes", got: Format.bytes(4370000000), expected: "4.37\u00a0GB" },
            { tag: "unknown time", got: Format.milliseconds(undefined), expected: Format.unknown },
            { tag: "milliseconds", got: Format.milliseconds(600.2), expected: "600\u00a0ms" },
            { tag: "seconds", got: Format.milliseconds(12340), expected: "12.3\u00a0s" },
            { tag: "speed", got: Format.tokensPerSecond(9.5), expected: "9.5\u00a0tok/s" },
            { tag: "zero is not unknown", got: Format.tokensPerSecond(0), expected: "0\u00a0tok/s" },
            { tag: "share", got: Format.percent(39, 100), expected: "39\u00a0%" },
            { tag: "share of 1", got: Format.percent(0.29, 1), expected: "29\u00a0%" },
            { tag: "not all yet", got: Format.percent(1e12 - 1, 1e12), expected: "99\u00a0%" },
            { tag: "a while", got: Format.duration(185000), expected: "3\u00a0min\u00a05\u00a0s" },
            { tag: "hours", got: Format.duration(7650000), expected: "2\u00a0h\u00a08\u00a0min" },
            { tag: "range", got: Format.unbroken("tokens 0–47"), expected: "tokens\u00a00\u2060–\u206047" }
        ];
    }

    function test_numbers(data) {
        compare(data.got, data.expected);
    }
}
