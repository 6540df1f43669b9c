#include "app/pressure/placement_event_model.h"

#include "app/system/chosen_path.h"
#include "app/text/csv_field.h"
#include "app/text/engine_words.h"
#include "engine/layer_move.h"

#include <QClipboard>
#include <QDateTime>
#include <QGuiApplication>
#include <QSaveFile>

std::optional<PlacementEventModel::Kind> PlacementEventModel::kindOf(engine::Event::Kind kind)
{
    using Of = engine::Event::Kind;
    switch (kind) {
    case Of::Offload:
        return Offload;
    case Of::Fetch:
        return Fetch;
    case Of::LayerMove:
    case Of::ExpertsMove:
        return LayerMove;
    case Of::DeviceLost:
        return DeviceLost;
    case Of::KvRestored:
    case Of::KvPrefilled:
    case Of::KvSaved:
        return SavedKv;
    case Of::Warning:
        return Warning;
    case Of::KvRewritten:
        return KvRewritten;
    case Of::DeviceChanged:
        return DeviceChanged;
    case Of::Adapted:
        return Adapted;
    case Of::CommandDone:
    case Of::LoadFinished:
    case Of::TurnsDropped:
    case Of::ContextNearlyFull:
        break;
    }
    return {};
}

QString PlacementEventModel::nameOf(engine::Event::Kind kind)
{
    using Of = engine::Event::Kind;
    switch (kind) {
    case Of::Offload:
        return tr("Offload");
    case Of::Fetch:
        return tr("Fetch");
    case Of::LayerMove:
        return tr("Layer moved");
    case Of::ExpertsMove:
        return tr("Experts moved");
    case Of::DeviceLost:
        return tr("Device lost");
    case Of::KvRestored:
        return tr("KV read from disk");
    case Of::KvPrefilled:
        return tr("KV computed again");
    case Of::KvSaved:
        return tr("KV saved to disk");
    case Of::KvRewritten:
        return tr("KV in another type");
    case Of::DeviceChanged:
        return tr("Device changed");
    case Of::Adapted:
        return tr("Auto adapts");
    default:
        return tr("Warning");
    }
}

QString PlacementEventModel::titleOf(const engine::Event& event)
{
    using Of = engine::Event::Kind;
    const auto to = engine::layer_moved_to(event.sentence);
    if ((event.kind != Of::LayerMove && event.kind != Of::ExpertsMove) || !to)
        return nameOf(event.kind);
    const bool home = *to == engine::Residency::Host;
    if (event.kind == Of::ExpertsMove)
        return (home ? tr("Experts of layer %1 to RAM") : tr("Experts of layer %1 to the device")).arg(event.layer);
    return (home ? tr("Layer %1 to RAM") : tr("Layer %1 to the device")).arg(event.layer);
}

QString PlacementEventModel::nameOf(engine::Event::Cause cause)
{
    using Cause = engine::Event::Cause;
    switch (cause) {
    case Cause::User:
        return tr("you");
    case Cause::Watermark:
        return tr("watermark");
    case Cause::Split:
        return tr("layer split");
    case Cause::OtherProgram:
        return tr("another program");
    case Cause::DeviceLost:
        return tr("device lost");
    case Cause::ContextFull:
        return tr("context full");
    case Cause::None:
        break;
    }
    return {};
}

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
    const PlacementMove& row = m_rows[index.row()];
    const engine::Event& event = row.event;
    const bool ofTokens = event.tokens.count() > 0;
    switch (role) {
    case TimeRole:
        return QDateTime::fromMSecsSinceEpoch(row.ms);
    case KindRole:
        return kindOf(event.kind).value_or(Warning);
    case Qt::DisplayRole:
    case KindNameRole:
        return nameOf(event.kind);
    case CauseNameRole:
        return nameOf(event.cause);
    case TitleRole:
        return titleOf(event);
    case DetailRole:
        return titleOf(event) == nameOf(event.kind) ? engineWords(QString::fromStdString(event.sentence)) : QString();
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
        return engineWords(QString::fromStdString(event.sentence));
    case MessageRole:
        return messageName(row);
    case MessageIdRole: {
        const auto message = m_messages && row.message ? m_messages(*row.message) : std::nullopt;
        return message ? message->id : QString();
    }
    case MessageCountRole:
        return row.messages;
    default:
        return {};
    }
}

QHash<int, QByteArray> PlacementEventModel::roleNames() const
{
    return {
        {TimeRole, "time"},           {KindRole, "kind"},
        {KindNameRole, "kindName"},   {CauseNameRole, "causeName"},
        {TitleRole, "title"},         {DetailRole, "detail"},
        {BlocksRole, "blocks"},       {BytesRole, "bytes"},
        {MicrosecondsRole, "us"},     {FirstTokenRole, "first"},
        {LastTokenRole, "last"},      {LayerRole, "layer"},
        {SentenceRole, "sentence"},   {MessageRole, "message"},
        {MessageIdRole, "messageId"}, {MessageCountRole, "messageCount"},
    };
}

/// Names the message by the beginning of its text where that is known, else by its place. KV events without tokens are
/// another conversation's.
QString PlacementEventModel::messageName(const PlacementMove& move) const
{
    using Kind = engine::Event::Kind;
    const bool ofKv = move.event.kind == Kind::Offload || move.event.kind == Kind::Fetch;
    if (ofKv && move.event.tokens.count() == 0)
        return tr("Of another conversation");
    if (!move.message)
        return {};
    if (*move.message == 0)
        return tr("System prompt");
    const auto message = m_messages ? m_messages(*move.message) : std::nullopt;
    return message && !message->beginning.isEmpty() ? tr("“%1”").arg(message->beginning)
                                                    : tr("Message %1").arg(*move.message);
}

void PlacementEventModel::add(const PlacementMove& move)
{
    if (!kindOf(move.event.kind))
        return;
    if (m_rows.size() == kMostRows) {
        constexpr int tenth = kMostRows / 10;
        beginRemoveRows({}, 0, tenth - 1);
        m_rows.remove(0, tenth);
        endRemoveRows();
    }
    beginInsertRows({}, int(m_rows.size()), int(m_rows.size()));
    m_rows.append(move);
    endInsertRows();
}

void PlacementEventModel::reset(const QList<PlacementMove>& moves, const Messages& messages)
{
    beginResetModel();
    m_rows = moves;
    m_messages = messages;
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
    QString text = QStringLiteral("time,kind,cause,layer,first_token,last_token,blocks,bytes,microseconds,"
                                  "message,messages,text\n");
    for (int row = 0; row < rowCount(); ++row) {
        const QModelIndex at = index(row, 0);
        const auto number = [&](PlacementEventModel::Role role) {
            const auto value = qint64(at.data(role).toDouble());
            return value < 0 ? QString() : QString::number(value);
        };
        using Model = PlacementEventModel;
        text += QStringList({at.data(Model::TimeRole).toDateTime().toString(Qt::ISODateWithMs),
                             csvField(at.data(Model::KindNameRole).toString()),
                             csvField(at.data(Model::CauseNameRole).toString()), number(Model::LayerRole),
                             number(Model::FirstTokenRole), number(Model::LastTokenRole), number(Model::BlocksRole),
                             number(Model::BytesRole), number(Model::MicrosecondsRole),
                             csvField(at.data(Model::MessageRole).toString()), number(Model::MessageCountRole),
                             csvField(at.data(Model::SentenceRole).toString())})
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
    const QString path = chosenPath(file);
    QSaveFile out(path);
    if (out.open(QIODevice::WriteOnly) && out.write(csv().toUtf8()) >= 0 && out.commit())
        return {};
    return tr("The events could not be written to “%1”: %2.").arg(path, out.errorString());
}

#include "moc_placement_event_model.cpp"
