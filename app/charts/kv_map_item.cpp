#include "app/charts/kv_map_item.h"

#include "app/pressure/placement_event_model.h"

#include <QDateTime>
#include <QPainter>

#include <algorithm>
#include <cmath>

KvMapItem::KvMapItem(QQuickItem* parent)
    : MonitorItem(parent)
{
    setAcceptHoverEvents(true);
    connect(this, &KvMapItem::looksChanged, this, &KvMapItem::layOut);
    connect(this, &QQuickItem::visibleChanged, this, &KvMapItem::takeMap);
}

void KvMapItem::takeMap()
{
    if (!isVisible() || !monitor() || monitor()->kvMap() == m_map)
        return;
    m_map = monitor()->kvMap();
    Q_EMIT mapChanged();
    layOut();
}

int KvMapItem::nextToLeave() const
{
    for (int column = 1; column + 1 < columns(); ++column) {
        if (m_map->pinned(column))
            continue;
        for (int layer = 0; layer < m_map->layers; ++layer)
            if (m_map->place(column, layer) == engine::KvMap::Place::Device)
                return column;
    }
    return -1;
}

bool KvMapItem::windowed() const
{
    constexpr int mask = ~int(engine::KvMap::kPinned);
    return m_map && std::any_of(m_map->cells.begin(), m_map->cells.end(), [](std::uint8_t cell) {
               return engine::KvMap::Place(cell & mask) == engine::KvMap::Place::Window;
           });
}

void KvMapItem::layOut()
{
    const auto states = allStates().count() > 0 ? KvMapLayout::States::Shown : KvMapLayout::States::None;
    m_layout =
        m_map ? KvMapLayout(m_map->columns, m_map->layers, width(), m_mostHeight, m_unit, states) : KvMapLayout();
    setImplicitHeight(m_layout.height());
    if (m_pointed)
        Q_EMIT pointedChanged();  // it lies elsewhere, or is another one
    redrawSoon();
}

KvMapItem::Layers KvMapItem::layersOf(KvMapLayout::Cell cell) const
{
    using Place = engine::KvMap::Place;
    Layers layers;
    for (int layer = m_layout.firstLayer(cell.band); layer <= m_layout.lastLayer(cell.band); ++layer) {
        const Place place = m_map->place(cell.column, layer);
        if (place == Place::None)
            continue;
        (place == Place::Host     ? layers.host
         : place == Place::Device ? layers.device
         : place == Place::Moving ? layers.moving
                                  : layers.window)++;
    }
    return layers;
}

KvMapItem::States KvMapItem::statesOf(int firstLayer, int lastLayer) const
{
    States states;
    for (int layer = firstLayer; layer <= lastLayer && std::size_t(layer) < m_map->states.size(); ++layer) {
        const engine::KvMap::State& state = m_map->states[std::size_t(layer)];
        if (state.bytes == 0)
            continue;
        (state.at == engine::Residency::Host ? states.host : states.device)++;
        states.bytes += state.bytes;
    }
    return states;
}

QColor KvMapItem::colorOf(const Layers& layers) const
{
    const double all = std::max(1, layers.count());
    const auto mixed = [&](auto part) {
        return float((layers.host * part(m_hostColor) + layers.device * part(m_deviceColor) +
                      layers.moving * part(m_movingColor) + layers.window * part(m_windowColor)) /
                     all);
    };
    return QColor::fromRgbF(mixed([](const QColor& c) { return c.redF(); }),
                            mixed([](const QColor& c) { return c.greenF(); }),
                            mixed([](const QColor& c) { return c.blueF(); }));
}

bool KvMapItem::lit(int column) const
{
    const int first = column * m_map->block_tokens;
    return m_lightFirst >= 0 && first <= m_lightLast && first + m_map->block_tokens > m_lightFirst;
}

void KvMapItem::paintBlock(QPainter& painter, KvMapLayout::Cell cell) const
{
    const QRectF rect = m_layout.rect(cell);
    const Layers layers = layersOf(cell);
    if (layers.count() > 0)
        painter.fillRect(rect.adjusted(0, 0, -1, m_unit >= 3 ? -1 : 0), colorOf(layers));
    else  // one line through all columns
        painter.fillRect(QRectF(rect.left(), std::floor(rect.center().y()) - 1, rect.width(), 1), m_emptyColor);
}

void KvMapItem::paintState(QPainter& painter, int band) const
{
    const States states = statesOf(m_layout.firstLayer(band), m_layout.lastLayer(band));
    if (states.count() == 0)
        return;
    const QRectF rect = m_layout.rect({KvMapLayout::kState, band}).adjusted(0, 0, 0, m_unit >= 3 ? -1 : 0);
    painter.fillRect(QRectF(rect.left(), rect.top(), rect.width() * states.device / states.count(), rect.height()),
                     m_stateColor);
    painter.setPen(m_stateColor);
    painter.drawRect(rect.adjusted(0, 0, -1, -1));
}

void KvMapItem::paint(QImage& picture)
{
    if (!m_map || m_layout.height() <= 0)
        return;
    QPainter painter(&picture);
    for (int band = 0; band < m_layout.bands(); ++band)
        paintState(painter, band);
    const bool anyLit = m_lightFirst >= 0;
    for (int column = 0; column < m_map->columns; ++column) {
        painter.setOpacity(anyLit && !lit(column) ? 0.35 : 1);
        for (int band = 0; band < m_layout.bands(); ++band)
            paintBlock(painter, {column, band});
        if (m_map->pinned(column)) {
            const QRectF top = m_layout.rect({column, 0});
            painter.fillRect(QRectF(top.left(), top.top(), top.width() - 1, 2), m_pinColor);
        }
        if (lit(column)) {
            const QRectF all = m_layout.rect({column, 0}).united(m_layout.rect({column, m_layout.bands() - 1}));
            painter.setPen(m_lightColor);
            painter.drawRect(all.adjusted(0, 0, -1, -1));
        }
    }
}

void KvMapItem::geometryChange(const QRectF& now, const QRectF& before)
{
    if (now.width() != before.width())
        layOut();
    MonitorItem::geometryChange(now, before);
}

void KvMapItem::hoverMoveEvent(QHoverEvent* event)
{
    auto cell = m_layout.at(event->position());
    if (cell && cell->column == KvMapLayout::kState && stateCell(cell->band).isEmpty())
        cell.reset();
    point(cell);
}

void KvMapItem::hoverLeaveEvent(QHoverEvent*)
{
    forgetPointer();
}

void KvMapItem::step(int columns, int bands)
{
    if (this->columns() == 0)
        return;
    KvMapLayout::Cell to;
    if (m_pointed) {
        to.column = std::clamp(m_pointed->column + columns, KvMapLayout::kState, this->columns() - 1);
        to.band = std::clamp(m_pointed->band + bands, 0, m_layout.bands() - 1);
    }
    if (to.column == KvMapLayout::kState && stateCell(to.band).isEmpty())
        to.column = 0;
    point(to);
}

void KvMapItem::forgetPointer()
{
    point({});
}

void KvMapItem::point(std::optional<KvMapLayout::Cell> cell)
{
    if (cell == m_pointed)
        return;
    m_pointed = cell;
    Q_EMIT pointedChanged();
}

QVariantMap KvMapItem::pointed() const
{
    return m_pointed ? cell(m_pointed->column, m_pointed->band) : QVariantMap();
}

QRectF KvMapItem::mark() const
{
    return pointed().isEmpty() ? QRectF() : m_layout.rect(*m_pointed);
}

QVariantMap KvMapItem::stateCell(int band) const
{
    if (!m_map || band < 0 || band >= m_layout.bands())
        return {};
    const int first = m_layout.firstLayer(band), last = m_layout.lastLayer(band);
    const States states = statesOf(first, last);
    if (states.count() == 0)
        return {};
    return {{QStringLiteral("states"), states.count()}, {QStringLiteral("firstLayer"), first},
            {QStringLiteral("lastLayer"), last},        {QStringLiteral("host"), states.host},
            {QStringLiteral("device"), states.device},  {QStringLiteral("bytes"), double(states.bytes)}};
}

QVariantMap KvMapItem::cell(int column, int band) const
{
    if (column == KvMapLayout::kState)
        return stateCell(band);
    if (!m_map || !monitor() || column < 0 || column >= m_map->columns || band < 0 || band >= m_layout.bands())
        return {};
    const Layers layers = layersOf({column, band});
    const engine::Telemetry& frame = monitor()->frame();
    const int blocks = frame.kv_blocks_host + frame.kv_blocks_device;
    const double blockBytes = blocks > 0 ? double(frame.kv_bytes_host + frame.kv_bytes_device) / blocks : 0;
    const int first = column * m_map->block_tokens;
    const int firstLayer = m_layout.firstLayer(band), lastLayer = m_layout.lastLayer(band);
    QVariantMap cell{{QStringLiteral("column"), column},
                     {QStringLiteral("firstToken"), first},
                     {QStringLiteral("lastToken"),
                      std::min(first + m_map->block_tokens, std::max(first + 1, frame.context_tokens)) - 1},
                     {QStringLiteral("firstLayer"), firstLayer},
                     {QStringLiteral("lastLayer"), lastLayer},
                     {QStringLiteral("host"), layers.host},
                     {QStringLiteral("device"), layers.device},
                     {QStringLiteral("moving"), layers.moving},
                     {QStringLiteral("window"), layers.window},
                     {QStringLiteral("pinned"), m_map->pinned(column)},
                     {QStringLiteral("bytes"), blockBytes * layers.count()}};
    const engine::TokenRange tokens{first, first + m_map->block_tokens};
    if (const PlacementMove* const move = monitor()->recorder().lastMove(tokens, firstLayer, lastLayer)) {
        cell[QStringLiteral("movedAt")] = QDateTime::fromMSecsSinceEpoch(move->ms);
        cell[QStringLiteral("movedHow")] = PlacementEventModel::nameOf(move->event.kind);
        cell[QStringLiteral("movedWhy")] = PlacementEventModel::nameOf(move->event.cause);
    }
    return cell;
}

#include "moc_kv_map_item.cpp"
