// Writes numbers as people read them, in the user's language.
pragma Singleton

import QtQuick
import Spillway.App

QtObject {
    id: root

    readonly property string unknown: "–"
    // Changes when the user chooses another language while the program runs.
    readonly property string language: Qt.uiLanguage
    readonly property var locale: language ? Qt.locale(language) : Qt.locale()

    // Adds a part to a line of facts.
    function also(parts: string, part: string): string {
        return parts === "" ? part : parts + "  ·  " + part;
    }

    // Returns a sentence with all its markers filled at once: with one arg() after the other, markers within a title
    // would be filled as well.
    function filled(sentence: string, values: var): string {
        return sentence.replace(/%([1-9])/g, (marker, place) => values[place - 1] ?? marker);
    }

    function unbroken(text: string): string {
        return NumberWords.unbroken(text);
    }
    function number(value: real, decimals: int): string {
        return NumberWords.number(value, decimals, root.language);
    }
    function count(value: real): string {
        return NumberWords.count(value, root.language);
    }
    function three(value: real): string {
        return NumberWords.three(value, root.language);
    }
    function compact(value: real): string {
        return NumberWords.compact(value, root.language);
    }
    function context(tokens: real): string {
        return NumberWords.context(tokens, root.language);
    }
    function bytes(value: real): string {
        return NumberWords.bytes(value, root.language);
    }
    function milliseconds(value: var): string {
        return value === undefined ? unknown : NumberWords.milliseconds(value, root.language);
    }
    function microseconds(value: real): string {
        return NumberWords.microseconds(value, root.language);
    }
    function seconds(value: real): string {
        return NumberWords.seconds(value, root.language);
    }
    function duration(ms: real): string {
        return NumberWords.duration(ms, root.language);
    }
    function tokensPerSecond(value: var): string {
        return value === undefined ? unknown : NumberWords.tokensPerSecond(value, root.language);
    }
    function percent(part: real, whole: real): string {
        return whole > 0 ? NumberWords.percent(part, whole, root.language) : unknown;
    }
    function ratio(value: var): string {
        return value === undefined ? unknown : NumberWords.ratio(value, root.language);
    }

    function models(number: int): string {
        return number === 1 ? qsTr("1 model") : qsTr("%1 models").arg(count(number));
    }

    // Writes a date with the month's name, since day and month as numbers stand in different orders in different
    // countries.
    function date(ms: real): string {
        return new Date(ms).toLocaleDateString(root.locale, qsTr("d MMM yyyy", "a day, as Qt formats dates"));
    }
    function moment(ms: real): string {
        return qsTr("%1, %2", "a day and a time").arg(date(ms)).arg(new Date(ms).toLocaleTimeString(root.locale, Locale.ShortFormat));
    }
    // Names a day by its distance from today; `ms` since 1970.
    function day(ms: real): string {
        const days = Math.round((new Date().setHours(0, 0, 0, 0) - new Date(ms).setHours(0, 0, 0, 0)) / 86400000);
        if (days <= 0)
            return qsTr("today");
        if (days === 1)
            return qsTr("yesterday");
        return days < 30 ? qsTr("%1 days ago").arg(days) : date(ms);
    }

    // Joins the texts that are not empty with commas.
    function listed(texts: var): string {
        return texts.filter(text => text !== "").join(", ");
    }
}
