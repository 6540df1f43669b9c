#include "app/tuning/sampling_model.h"

#include <QLocale>

#include <algorithm>
#include <cmath>

namespace {

struct Words {
    QString label;
    QString explanation;
    QString none;  // what is shown where there is no value
};

/// Returns a number as it is typed in the user's language.
QString typed(double value, int decimals)
{
    QLocale locale;
    locale.setNumberOptions(QLocale::OmitGroupSeparator);
    QString text = locale.toString(value, 'f', decimals);
    if (decimals > 0)
        while (text.endsWith(locale.zeroDigit()) && text.contains(locale.decimalPoint()))
            text.chop(1);
    return text.endsWith(locale.decimalPoint()) ? text.chopped(1) : text;
}

/// Makes spaces plain: some locales part thousands with spaces that do not break.
QString withPlainSpaces(QString text)
{
    return text.replace(QChar(0x00a0), u' ').replace(QChar(0x202f), u' ');
}

/// Reads a number. "0,7" and "0.7" mean the same in every language; groups of digits are allowed in whole numbers only,
/// so that "2.5" is not 25 where a point separates thousands.
std::optional<double> parsed(const QString& text, int decimals)
{
    bool ok = false;
    QLocale ungrouped;
    ungrouped.setNumberOptions(QLocale::RejectGroupSeparator);
    double value = ungrouped.toDouble(text, &ok);
    if (!ok && decimals == 0) {
        value = QLocale().toDouble(text, &ok);
        ok = ok && withPlainSpaces(QLocale().toString(value, 'f', 0)) == withPlainSpaces(text);
    }
    if (!ok)
        value = QLocale::c().toDouble(QString(text).replace(u',', u'.'), &ok);
    return ok && std::isfinite(value) ? std::optional(value) : std::nullopt;
}

Words wordsOf(const SamplingControl& control)
{
    const QLatin1String key(control.key);
    if (key == QLatin1String("temperature"))
        return {SamplingModel::tr("Temperature"),
                SamplingModel::tr("How freely words are chosen. 0 always takes the likeliest one."),
                {}};
    if (key == QLatin1String("top_p"))
        return {SamplingModel::tr("Top-p"),
                SamplingModel::tr("Only the likeliest words that together make up this share. 1 is off."),
                {}};
    if (key == QLatin1String("top_k"))
        return {SamplingModel::tr("Top-k"), SamplingModel::tr("Only this many of the likeliest words. 0 is off."), {}};
    if (key == QLatin1String("min_p"))
        return {SamplingModel::tr("Min-p"),
                SamplingModel::tr("Only words at least this likely, compared with the likeliest. 0 is off."),
                {}};
    if (key == QLatin1String("repeat_penalty"))
        return {SamplingModel::tr("Repeat penalty"),
                SamplingModel::tr("Makes words that were just used less likely. 1 is off."),
                {}};
    if (key == QLatin1String("max_tokens"))
        return {SamplingModel::tr("Answer length"), SamplingModel::tr("Tokens an answer may have at most."),
                SamplingModel::tr("no limit")};
    return {SamplingModel::tr("Seed"), SamplingModel::tr("The same seed and settings give the same answer again."),
            SamplingModel::tr("random")};
}

}  // namespace

SamplingModel::SamplingModel(engine::Request defaults, QObject* parent)
    : QAbstractListModel(parent)
    , m_defaults(std::move(defaults))
{
}

int SamplingModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : int(samplingControls().size());
}

QVariant SamplingModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    const SamplingControl& control = samplingControls()[size_t(index.row())];
    const auto now = value(control);
    const auto own = control.valueOf(m_defaults);
    switch (role) {
    case KeyRole:
        return QLatin1String(control.key);
    case LabelRole:
    case Qt::DisplayRole:
        return wordsOf(control).label;
    case ExplanationRole:
        return wordsOf(control).explanation;
    case ValueRole:
        return now ? QVariant(*now) : QVariant();
    case TextRole:
        return now ? typed(*now, control.decimals) : QString();
    case DefaultTextRole:
        return own ? typed(*own, control.decimals) : wordsOf(control).none;
    case ChangedRole:
        return now && (!own || std::abs(*now - *own) > 1e-6);
    case FromRole:
        return control.from;
    case SliderToRole:
        return std::max(control.from, control.sliderTo);
    case StepRole:
        return control.step;
    case KnownRole:
        return !m_unknown.contains(QLatin1String(control.key));
    default:
        return {};
    }
}

QHash<int, QByteArray> SamplingModel::roleNames() const
{
    return {
        {KeyRole, "key"},         {LabelRole, "label"}, {ExplanationRole, "explanation"},
        {ValueRole, "value"},     {TextRole, "text"},   {DefaultTextRole, "defaultText"},
        {ChangedRole, "changed"}, {FromRole, "from"},   {SliderToRole, "sliderTo"},
        {StepRole, "step"},       {KnownRole, "known"},
    };
}

void SamplingModel::show(const QJsonObject& sampling)
{
    if (m_sampling == sampling)
        return;
    m_sampling = sampling;
    Q_EMIT dataChanged(index(0), index(rowCount() - 1));
}

void SamplingModel::setUnknown(const QStringList& keys)
{
    if (m_unknown == keys)
        return;
    m_unknown = keys;
    Q_EMIT dataChanged(index(0), index(rowCount() - 1), {KnownRole});
}

int SamplingModel::changedCount() const
{
    int changed = 0;
    for (int row = 0; row < rowCount(); ++row)
        changed += data(index(row), ChangedRole).toBool();
    return changed;
}

void SamplingModel::setValue(int row, double value)
{
    if (row < 0 || row >= rowCount())
        return;
    const SamplingControl& control = samplingControls()[size_t(row)];
    const double steps = std::round((value - control.from) / control.step);
    const double scale = std::pow(10, control.decimals);  // no 0.30000000000000004
    const double stepped = std::round((control.from + steps * control.step) * scale) / scale;
    set(row, std::clamp(stepped, control.from, control.to));
}

QString SamplingModel::setText(int row, const QString& text)
{
    if (row < 0 || row >= rowCount())
        return {};
    if (text.trimmed().isEmpty()) {
        reset(row);
        return {};
    }
    if (text.trimmed() == data(index(row), TextRole).toString())
        return {};  // the field was not changed; what it shows may be rounded
    const SamplingControl& control = samplingControls()[size_t(row)];
    const auto number = parsed(text.trimmed(), control.decimals);
    if (number) {
        const QJsonObject alone{{QLatin1String(control.key), *number}};
        if (samplingValue(alone, control)) {
            set(row, *number);
            return {};
        }
    }
    const QString from = typed(control.from, control.decimals);
    const QString to = typed(control.to, control.decimals);
    return control.decimals > 0 ? tr("%1 is a number from %2 to %3.").arg(wordsOf(control).label, from, to)
                                : tr("%1 is a whole number from %2 to %3.").arg(wordsOf(control).label, from, to);
}

void SamplingModel::reset(int row)
{
    if (row >= 0 && row < rowCount())
        set(row, QJsonValue::Undefined);
}

std::optional<double> SamplingModel::value(const SamplingControl& control) const
{
    const auto own = samplingValue(m_sampling, control);
    return own ? own : control.valueOf(m_defaults);
}

void SamplingModel::set(int row, const QJsonValue& value)
{
    const QLatin1String key(samplingControls()[size_t(row)].key);
    if (m_sampling.value(key) == value)
        return;
    m_sampling.insert(key, value);  // an undefined value removes it
    Q_EMIT dataChanged(index(row), index(row));
    Q_EMIT edited();
}

#include "moc_sampling_model.cpp"
