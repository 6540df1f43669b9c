// Numbers as people read them, in the user's language.
pragma Singleton

import QtQuick

QtObject {
    id: root

    readonly property string unknown: "–"
    // Follows the language that the user chooses while the program runs.
    readonly property var locale: Qt.uiLanguage ? Qt.locale(Qt.uiLanguage) : Qt.locale()

    // One more part of a line of facts.
    function also(parts: string, part: string): string {
        return parts === "" ? part : parts + "  ·  " + part;
    }

    // A number and its unit, or a range, which no line break parts.
    function unbroken(text: string): string {
        return text.replace(/ /g, "\u00a0").replace(/–/g, "\u2060–\u2060");
    }

    function number(value: real, decimals: int): string {
        return Number(value).toLocaleString(root.locale, "f", decimals);
    }

    function count(value: real): string {
        return number(value, 0);
    }

    // 260, 3.2 K, 1.24 B: parameters
    function compact(value: real): string {
        const units = [[1e12, "T"], [1e9, "B"], [1e6, "M"], [1e3, "K"]];
        for (const [size, unit] of units) {
            if (value >= size)
                return unbroken(three(value / size) + " " + unit);
        }
        return count(value);
    }

    // 512, 4K, 128K: tokens of a context, which come in powers of two
    function context(tokens: real): string {
        return tokens >= 1024 && tokens % 1024 === 0 ? qsTr("%1K").arg(tokens / 1024) : count(tokens);
    }

    // File sizes as desktops give them: powers of 1000.
    function bytes(value: real): string {
        const units = [[1e12, "TB"], [1e9, "GB"], [1e6, "MB"], [1e3, "kB"]];
        for (const [size, unit] of units) {
            if (value >= size)
                return unbroken(three(value / size) + " " + unit);
        }
        return unbroken(qsTr("%1 B").arg(count(value)));
    }

    function models(number: int): string {
        return number === 1 ? qsTr("1 model") : qsTr("%1 models").arg(count(number));
    }

    // A day, by its distance from today; ms since 1970.
    function day(ms: real): string {
        const days = Math.round((new Date().setHours(0, 0, 0, 0) - new Date(ms).setHours(0, 0, 0, 0)) / 86400000);
        if (days <= 0)
            return qsTr("today");
        if (days === 1)
            return qsTr("yesterday");
        return days < 30 ? qsTr("%1 days ago").arg(days)
                         : new Date(ms).toLocaleDateString(Qt.locale(), Locale.ShortFormat);
    }

    function milliseconds(value: var): string {
        if (value === undefined)
            return unknown;
        return unbroken(value < 9995 ? qsTr("%1 ms").arg(three(value)) : qsTr("%1 s").arg(three(value / 1000)));
    }

    function microseconds(value: real): string {
        return value < 999.5 ? unbroken(qsTr("%1 µs").arg(three(value))) : milliseconds(value / 1000);
    }

    // A place on the axis of a chart.
    function seconds(value: real): string {
        return unbroken(value < 120 ? qsTr("%1 s").arg(three(value)) : qsTr("%1 min").arg(three(value / 60)));
    }

    // For people who waited: 0.4 s, 12 s, 3 min 5 s.
    function duration(ms: real): string {
        const seconds = ms / 1000;
        if (seconds < 9.95)
            return unbroken(qsTr("%1 s").arg(number(Math.max(0.1, seconds), seconds < 0.95 ? 1 : 0)));
        if (seconds < 59.5)
            return unbroken(qsTr("%1 s").arg(count(seconds)));
        const whole = Math.round(seconds);
        return unbroken(qsTr("%1 min %2 s").arg(count(Math.floor(whole / 60))).arg(whole % 60));
    }

    // What there is of some texts, as people list them.
    function listed(texts: var): string {
        return texts.filter(text => text !== "").join(", ");
    }

    function tokensPerSecond(value: var): string {
        return value === undefined ? unknown : unbroken(qsTr("%1 tok/s").arg(three(value)));
    }

    function percent(part: real, whole: real): string {
        return whole > 0 ? unbroken(qsTr("%1 %").arg(count(Math.floor(100 * part / whole)))) : unknown;
    }

    // How many times as much: 0.27×, 3.1×.
    function ratio(value: var): string {
        return value === undefined ? unknown : qsTr("%1×").arg(three(value));
    }

    // Three digits that count; whole numbers beyond.
    function three(value: real): string {
        if (value >= 99.95)
            return number(value, 0);
        const decimals = value >= 9.995 ? 1 : 2;
        const text = number(value, decimals);
        const point = root.locale.decimalPoint;
        return text.indexOf(point) < 0 ? text : text.replace(/0+$/, "").replace(new RegExp("\\" + point + "$"), "");
    }
}
