#include "app/models/placement_event_model.h"

#include "app/text/visible_text.h"

#include <QClipboard>
#include <QDateTime>
#include <QGuiApplication>
#include <QSaveFile>

#include <optional>

namespace {

std::optional<PlacementEventModel::Kind> kindOf(engine::Event::Kind kind)
{
    using Of = engine::Event::Kind;
    switch (kind) {
    case Of::Offload:
        return PlacementEventModel::Offload;
    case Of::Fetch:
        return PlacementEventModel::Fetch;
    case Of::LayerMove:
        return PlacementEventModel::LayerMove;
    case Of::DeviceLost:
        return PlacementEventModel::DeviceLost;
    case Of::KvRestored:
    case Of::KvPrefilled:
    case Of::KvSaved:
        return PlacementEventModel::SavedKv;
    case Of::Warning:
        return PlacementEventModel::Warning;
    case Of::CommandDone:
    case Of::LoadFinished:
    case Of::TurnsDropped:
    case Of::ContextNearlyFull:
        break;
    }
    return {};
}

QString kindName(const engine::Event& event)
{
    using Of = engine::Event::Kind;
    switch (event.kind) {
    case Of::Offload:
        return PlacementEventModel::tr("Offload");
    case Of::Fetch:
        return PlacementEventModel::tr("Fetch");
    case Of::LayerMove:
        return PlacementEventModel::tr("Layer moved");
    case Of::DeviceLost:
        return PlacementEventModel::tr("Device lost");
    case Of::KvRestored:
        return PlacementEventModel::tr("KV read from disk");
    case Of::KvPrefilled:
        return PlacementEventModel::tr("KV computed again");
    case Of::KvSaved:
        return PlacementEventModel::tr("KV saved to disk");
    default:
        return PlacementEventModel::tr("Warning");
    }
}

QString causeName(engine::Event::Cause cause)
{
    using Cause = engine::Event::Cause;
    switch (cause) {
    case Cause::User:
        return PlacementEventModel::tr("you");
    case Cause::Watermark:
        return PlacementEventModel::tr("watermark");
    case Cause::Split:
        return PlacementEventModel::tr("layer split");
    case Cause::OtherProgram:
        return PlacementEventModel::tr("another program");
    case Cause::DeviceLost:
        return PlacementEventModel::tr("device lost");
    case Cause::ContextFull:
        return PlacementEventModel::tr("context full");
    case Cause::None:
        break;
    }
    return {};
}

/// A field that may hold commas and quotes; a program that opens it must not take it for a formula.
QString quoted(QString text)
{
    if (!text.isEmpty() && QStringLiteral("=+-@").contains(text.front()))
        text.prepend(QLatin1Char('\''));
    return QLatin1Char('"') + text.replace(QLatin1Char('"'), QLatin1String("\"\"")) + QLatin1Char('"');
}

}  // namespace

PlacementEventModel::PlacementEventModel(QObject* parent)
    : QAbstractListModel(parent)
{
}

int PlacementEventModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : int(m_rows.size());
}

QVariant PlacementEventModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    const Row& row = m_rows[index.row()];
    const engine::Event& event = row.event;
    const bool ofTokens = event.tokens.count() > 0;
    switch (role) {
    case TimeRole:
        return QDateTime::fromMSecsSinceEpoch(row.ms);
    case KindRole:
        return row.kind;
    case Qt::DisplayRole:
    case KindNameRole:
        return kindName(event);
    case CauseNameRole:
        return causeName(event.cause);
    case BlocksRole:
        return event.blocks;
    case BytesRole:
        return double(event.bytes);
    case MicrosecondsRole:
        return double(event.duration_us);
    case FirstTokenRole:
        return ofTokens ? event.tokens.first : -1;
    case LastTokenRole:
        return ofTokens ? event.tokens.last - 1 : -1;
    case LayerRole:
        return event.layer;
    case SentenceRole:
        return VisibleText::of(QString::fromStdString(event.sentence));
    default:
        return {};
    }
}

QHash<int, QByteArray> PlacementEventModel::roleNames() const
{
    return {
        {TimeRole, "time"},      {KindRole, "kind"},   {KindNameRole, "kindName"}, {CauseNameRole, "causeName"},
        {BlocksRole, "blocks"},  {BytesRole, "bytes"}, {MicrosecondsRole, "us"},   {FirstTokenRole, "first"},
        {LastTokenRole, "last"}, {LayerRole, "layer"}, {SentenceRole, "sentence"},
    };
}

void PlacementEventModel::add(const engine::Event& event)
{
    const auto kind = kindOf(event.kind);
    if (!kind)
        return;
    if (m_rows.size() == kMostRows) {
        constexpr int tenth = kMostRows / 10;
        beginRemoveRows({}, 0, tenth - 1);
        m_rows.remove(0, tenth);
        endRemoveRows();
    }
    beginInsertRows({}, int(m_rows.size()), int(m_rows.size()));
    m_rows.append({QDateTime::currentMSecsSinceEpoch(), *kind, event});
    endInsertRows();
}

void PlacementEventModel::clear()
{
    beginResetModel();
    m_rows.clear();
    endResetModel();
}

ShownPlacementEvents::ShownPlacementEvents(PlacementEventModel& events, QObject* parent)
    : QSortFilterProxyModel(parent)
{
    setSourceModel(&events);
    for (auto signal : {&QAbstractItemModel::rowsInserted, &QAbstractItemModel::rowsRemoved})
        connect(this, signal, this, &ShownPlacementEvents::countChanged);
    connect(this, &QAbstractItemModel::modelReset, this, &ShownPlacementEvents::countChanged);
}

void ShownPlacementEvents::setKind(int kind)
{
    if (kind == m_kind)
        return;
    m_kind = kind;
    invalidateFilter();
    Q_EMIT kindChanged();
    Q_EMIT countChanged();
}

bool ShownPlacementEvents::filterAcceptsRow(int row, const QModelIndex& parent) const
{
    return m_kind < 0 || sourceModel()->index(row, 0, parent).data(PlacementEventModel::KindRole).toInt() == m_kind;
}

QString ShownPlacementEvents::csv() const
{
    QString text = QStringLiteral("time,kind,cause,layer,first_token,last_token,blocks,bytes,microseconds,text\n");
    for (int row = 0; row < rowCount(); ++row) {
        const QModelIndex at = index(row, 0);
        const auto number = [&](PlacementEventModel::Role role) {
            const auto value = qint64(at.data(role).toDouble());
            return value < 0 ? QString() : QString::number(value);
        };
        using Model = PlacementEventModel;
        text += QStringList({at.data(Model::TimeRole).toDateTime().toString(Qt::ISODateWithMs),
                             quoted(at.data(Model::KindNameRole).toString()),
                             quoted(at.data(Model::CauseNameRole).toString()), number(Model::LayerRole),
                             number(Model::FirstTokenRole), number(Model::LastTokenRole), number(Model::BlocksRole),
                             number(Model::BytesRole), number(Model::MicrosecondsRole),
                             quoted(at.data(Model::SentenceRole).toString())})
                    .join(QLatin1Char(',')) +
                QLatin1Char('\n');
    }
    return text;
}

void ShownPlacementEvents::copy() const
{
    QGuiApplication::clipboard()->setText(csv());
}

QString ShownPlacementEvents::save(const QUrl& file) const
{
    QSaveFile out(file.toLocalFile());
    if (out.open(QIODevice::WriteOnly) && out.write(csv().toUtf8()) >= 0 && out.commit())
        return {};
    return tr("The events could not be written to “%1”: %2.").arg(file.toLocalFile(), out.errorString());
}
