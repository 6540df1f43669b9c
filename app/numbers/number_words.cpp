#include "app/numbers/number_words.h"

#include <QCoreApplication>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <utility>

namespace {

/// Translates the texts under the name of QML's Format.
struct Format {
    Q_DECLARE_TR_FUNCTIONS(Format)
};

using Unit = std::pair<double, const char*>;

/// Returns the largest unit that is not larger than the value; null: all are larger.
const Unit* unitOf(double value, const std::initializer_list<Unit>& units)
{
    for (const Unit& unit : units)
        if (value >= unit.first)
            return &unit;
    return nullptr;
}

constexpr std::initializer_list<Unit> kThousands{{1e12, "T"}, {1e9, "B"}, {1e6, "M"}, {1e3, "K"}};
constexpr std::initializer_list<Unit> kBytes{{1e12, "TB"}, {1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}};

}  // namespace

QLocale NumberWords::localeOf(const QString& language)
{
    if (language.isEmpty())
        return QLocale();  // not kept: the default may change
    if (language != m_language) {
        m_language = language;
        m_locale = QLocale(language);
    }
    return m_locale;
}

QString NumberWords::unbroken(QString text)
{
    return text.replace(u' ', QChar(0x00a0)).replace(QStringLiteral("–"), QStringLiteral("\u2060–\u2060"));
}

QString NumberWords::number(double value, int decimals, const QString& language)
{
    return localeOf(language).toString(value, 'f', decimals);
}

QString NumberWords::count(double value, const QString& language)
{
    return number(value, 0, language);
}

QString NumberWords::three(double value, const QString& language)
{
    if (value >= 99.95)
        return count(value, language);
    QString text = number(value, value >= 9.995 ? 1 : 2, language);
    const QString point = localeOf(language).decimalPoint();
    if (!text.contains(point))
        return text;
    while (text.endsWith(u'0'))
        text.chop(1);
    if (text.endsWith(point))
        text.chop(point.size());
    return text;
}

QString NumberWords::compact(double value, const QString& language)
{
    const Unit* const unit = unitOf(value, kThousands);
    if (!unit)
        return count(value, language);
    return unbroken(three(value / unit->first, language) + u' ' + QLatin1String(unit->second));
}

QString NumberWords::context(double tokens, const QString& language)
{
    if (tokens < 1024 || std::fmod(tokens, 1024) != 0)
        return count(tokens, language);
    return Format::tr("%1K").arg(tokens / 1024);
}

QString NumberWords::bytes(double value, const QString& language)
{
    const Unit* const unit = unitOf(value, kBytes);
    if (!unit)
        return unbroken(Format::tr("%1 B").arg(count(value, language)));
    return unbroken(three(value / unit->first, language) + u' ' + QLatin1String(unit->second));
}

QString NumberWords::milliseconds(double ms, const QString& language)
{
    return unbroken(ms < 9995 ? Format::tr("%1 ms").arg(three(ms, language))
                              : Format::tr("%1 s").arg(three(ms / 1000, language)));
}

QString NumberWords::microseconds(double us, const QString& language)
{
    return us < 999.5 ? unbroken(Format::tr("%1 µs").arg(three(us, language))) : milliseconds(us / 1000, language);
}

QString NumberWords::seconds(double s, const QString& language)
{
    return unbroken(s < 120 ? Format::tr("%1 s").arg(three(s, language))
                            : Format::tr("%1 min").arg(three(s / 60, language)));
}

QString NumberWords::duration(double ms, const QString& language)
{
    const double seconds = ms / 1000;
    if (seconds < 9.95)
        return unbroken(Format::tr("%1 s").arg(number(std::max(0.1, seconds), seconds < 0.95 ? 1 : 0, language)));
    if (seconds < 59.5)
        return unbroken(Format::tr("%1 s").arg(count(seconds, language)));
    if (seconds >= 3599.5) {
        const double minutes = std::floor(seconds / 60 + 0.5);
        return unbroken(
            Format::tr("%1 h %2 min").arg(count(std::floor(minutes / 60), language)).arg(std::fmod(minutes, 60)));
    }
    const double whole = std::floor(seconds + 0.5);
    return unbroken(Format::tr("%1 min %2 s").arg(count(std::floor(whole / 60), language)).arg(std::fmod(whole, 60)));
}

QString NumberWords::tokensPerSecond(double value, const QString& language)
{
    return unbroken(Format::tr("%1 tok/s").arg(three(value, language)));
}

QString NumberWords::percent(double part, double whole, const QString& language)
{
    constexpr double kRounding = 1 + 1e-13;  // 100 * 0.29 is computed as just below 29, and would give 28 %
    return unbroken(Format::tr("%1 %").arg(count(std::floor(100 * part / whole * kRounding), language)));
}

QString NumberWords::ratio(double value, const QString& language)
{
    return Format::tr("%1×").arg(three(value, language));
}

#include "moc_number_words.cpp"
