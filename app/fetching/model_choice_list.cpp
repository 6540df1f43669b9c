#include "app/fetching/model_choice_list.h"

#include "app/text/visible_text.h"

int ModelChoiceList::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : int(m_choices.size());
}

QVariant ModelChoiceList::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    const net::ModelChoice& choice = m_choices[std::size_t(index.row())];
    const bool unusable = m_unusable[std::size_t(index.row())];
    switch (role) {
    case Qt::DisplayRole:
    case NameRole:
        return VisibleText::of(QString::fromStdString(choice.name));
    case QuantRole:
        return VisibleText::of(QString::fromStdString(choice.quant));
    case BytesRole:
        return double(choice.bytes);
    case PartsRole:
        return int(choice.files.size());
    case FitRole:
        return QVariant::fromValue(m_fits.empty() || unusable ? ModelFit() : m_fits[std::size_t(index.row())]);
    case RecommendedRole:
        return index.row() == m_recommended && !unusable;
    case ReasonRole:
        return index.row() == m_recommended && !unusable ? reason() : QString();
    case UsableRole:
        return !unusable;
    case HereRole:
        return !place(index.row()).isEmpty();
    case FetchStateRole:
        return int(m_fetchStates.value(QString::fromStdString(choice.files.front().path), Fetch::None));
    default:
        return {};
    }
}

QHash<int, QByteArray> ModelChoiceList::roleNames() const
{
    return {{QuantRole, "quant"},   {NameRole, "name"}, {BytesRole, "bytes"},
            {PartsRole, "parts"},   {FitRole, "fit"},   {RecommendedRole, "recommended"},
            {ReasonRole, "reason"}, {HereRole, "here"}, {FetchStateRole, "fetchState"},
            {UsableRole, "usable"}};
}

void ModelChoiceList::set(const std::vector<net::ModelChoice>& choices, const std::optional<net::Chosen>& recommended)
{
    beginResetModel();
    m_choices = choices;
    m_unusable.assign(choices.size(), false);
    m_fits.clear();
    m_places.clear();
    m_fetchStates.clear();
    m_recommended = -1;
    for (std::size_t i = 0; recommended && i < m_choices.size(); ++i)
        if (m_choices[i].files.front().path == recommended->choice.files.front().path)
            m_recommended = int(i);
    m_why = recommended ? recommended->why : net::Chosen::Why::Named;
    endResetModel();
}

void ModelChoiceList::setFits(int row, const engine::ModelInfo& info, const engine::LoadRequest& request,
                              const engine::MachineMemory& memory)
{
    m_fits.clear();
    for (const net::ModelChoice& choice : m_choices) {
        engine::ModelInfo as = info;
        const std::int64_t more = choice.bytes - m_choices[std::size_t(row)].bytes;
        as.file_bytes += more;
        as.weight_bytes = std::max<std::int64_t>(0, as.weight_bytes + more);
        m_fits.emplace_back(engine::fit_in_memory(as, request, memory), FixedState());
    }
    m_unusable[std::size_t(row)] = false;
    tell({FitRole, UsableRole, RecommendedRole, ReasonRole});
}

void ModelChoiceList::setUnusable(int row)
{
    m_unusable[std::size_t(row)] = true;
    tell({FitRole, UsableRole, RecommendedRole, ReasonRole});
}

void ModelChoiceList::setPlaces(const QStringList& places)
{
    if (places == m_places)
        return;
    m_places = places;
    tell({HereRole});
}

void ModelChoiceList::setFetchStates(const QHash<QString, Fetch::State>& states)
{
    if (states == m_fetchStates)
        return;
    m_fetchStates = states;
    tell({FetchStateRole});
}

void ModelChoiceList::tell(const QList<int>& roles)
{
    if (!m_choices.empty())
        Q_EMIT dataChanged(index(0), index(int(m_choices.size()) - 1), roles);
}

QString ModelChoiceList::reason() const
{
    switch (m_why) {
    case net::Chosen::Why::SmallModel:
        return tr("Recommended: a small model loses most by fewer bits, and this one fits.");
    case net::Chosen::Why::BestBalance:
        return tr("Recommended: the best balance of size and quality that fits into the memory that is free.");
    case net::Chosen::Why::LargestThatFits:
        return tr("Recommended: the largest that fits into the memory that is free.");
    case net::Chosen::Why::NoneFits:
        return tr("The smallest; none fits into the memory that is free.");
    case net::Chosen::Why::Named:
        break;
    }
    return {};
}

#include "moc_model_choice_list.cpp"
