#include "app/tuning/preset_model.h"

#include "app/text/visible_text.h"

#include <algorithm>

namespace {

constexpr qsizetype kLongestName = 60;

// Their names are kept in English, whatever language they are shown in. They say how words are chosen and nothing else:
// a system prompt, a length or a seed stays as it is.
//
// Balanced is the program's own values. Precise keeps a little chance, since always taking the likeliest word makes
// small models repeat themselves; a narrow top-p and min-p remove the tail that wrong digits and names come from.
// Creative flattens the distribution and opens top-p and top-k; min-p alone then cuts what does not fit the sentence,
// since it follows how sure the model is.
QList<Preset> builtIn()
{
    return {
        {QStringLiteral("Balanced"), {}},
        {QStringLiteral("Precise"),
         {.sampling = {{"temperature", 0.2}, {"top_p", 0.9}, {"top_k", 20}, {"min_p", 0.1}}}},
        {QStringLiteral("Creative"),
         {.sampling = {{"temperature", 1.1}, {"top_p", 1.0}, {"top_k", 0}, {"min_p", 0.08}}}},
    };
}

QString shownName(const QString& builtInName)
{
    if (builtInName == QLatin1String("Precise"))
        return PresetModel::tr("Precise");
    return builtInName == QLatin1String("Creative") ? PresetModel::tr("Creative") : PresetModel::tr("Balanced");
}

QString explanationOf(const QString& builtInName)
{
    if (builtInName == QLatin1String("Precise"))
        return PresetModel::tr("Stays with the likeliest words: facts, code, summaries.");
    return builtInName == QLatin1String("Creative") ? PresetModel::tr("Takes bolder words: stories, ideas, names.")
                                                    : PresetModel::tr("What Spillway uses by itself.");
}

}  // namespace

PresetModel::PresetModel(ConversationStore& store, QObject* parent)
    : QAbstractListModel(parent)
    , m_store(store)
{
    readAgain();
}

int PresetModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : count();
}

QVariant PresetModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    const QString& name = m_presets[index.row()].name;
    switch (role) {
    case NameRole:
    case Qt::DisplayRole:
        return isBuiltIn(index.row()) ? shownName(name) : VisibleText::of(name).simplified();
    case BuiltInRole:
        return isBuiltIn(index.row());
    case ExplanationRole:
        return isBuiltIn(index.row()) ? explanationOf(name) : QString();
    default:
        return {};
    }
}

QHash<int, QByteArray> PresetModel::roleNames() const
{
    return {{NameRole, "name"}, {BuiltInRole, "builtIn"}, {ExplanationRole, "explanation"}};
}

int PresetModel::indexOf(const QString& preset) const
{
    for (int row = 0; row < count(); ++row)
        if (m_presets[row].name == preset)
            return row;
    return -1;
}

QString PresetModel::save(const QString& name, const ConversationSettings& settings)
{
    const QString tidy = name.simplified();
    if (QString why = whyNot(tidy); !why.isEmpty())
        return why;
    Preset preset{tidy, settings};
    preset.settings.preset = tidy;
    m_store.save(preset);
    readAgain();
    return {};
}

QString PresetModel::rename(int row, const QString& name)
{
    if (row < m_builtIn || row >= count())
        return tr("A preset that is built in keeps its name.");
    const Preset preset = m_presets[row];
    const QString tidy = name.simplified();
    if (tidy == preset.name)
        return {};
    if (QString why = whyNot(tidy); !why.isEmpty())
        return why;
    if (indexOf(tidy) >= 0)
        return tr("There is a preset “%1” already.").arg(tidy);
    if (QString why = save(tidy, preset.settings); !why.isEmpty())
        return why;
    m_store.removePreset(preset.name);
    readAgain();
    return {};
}

void PresetModel::remove(int row)
{
    if (row < m_builtIn || row >= count())
        return;
    m_store.removePreset(m_presets[row].name);
    readAgain();
}

QString PresetModel::whyNot(const QString& name) const
{
    if (name.isEmpty())
        return tr("A preset needs a name.");
    if (name.size() > kLongestName)
        return tr("A preset's name has %n characters at most.", nullptr, kLongestName);
    for (int row = 0; row < m_builtIn; ++row)
        if (name.compare(m_presets[row].name, Qt::CaseInsensitive) == 0 ||
            name.compare(shownName(m_presets[row].name), Qt::CaseInsensitive) == 0)
            return tr("“%1” is built in; choose another name.").arg(name);
    return {};
}

void PresetModel::readAgain()
{
    beginResetModel();
    m_presets = builtIn();
    m_builtIn = int(m_presets.size());
    const QList<Preset> own = m_store.presets();
    std::copy_if(own.begin(), own.end(), std::back_inserter(m_presets), [this](const Preset& preset) {
        return !preset.name.isEmpty() && indexOf(preset.name) < 0;  // a profile from elsewhere may hold such names
    });
    endResetModel();
    Q_EMIT countChanged();
}

#include "moc_preset_model.cpp"
