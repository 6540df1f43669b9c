#include "app/charts/expert_map_item.h"

#include <QPainter>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace {

using Place = engine::ExpertMap::Place;

constexpr int kTakeMs = 200;        // between two maps: often enough for the eye, and little work
constexpr double kHighestLine = 2;  // of a line, in units
constexpr double kGapFrom = 3;      // a cell of this many pixels has a gap beside it
// The strength of the colour of an expert that was never chosen, and of one chosen once; the one chosen most has 1.
constexpr double kUnused = 0.15, kUsed = 0.5;
constexpr int kShades = 64;

/// Returns a colour between the ground, at strength 0, and the ink, at 1.
QRgb shade(const QColor& ground, const QColor& ink, double strength)
{
    const auto between = [&](double from, double to) {
        return int(std::lround(255 * (from + strength * (to - from))));
    };
    return qRgb(between(ground.redF(), ink.redF()), between(ground.greenF(), ink.greenF()),
                between(ground.blueF(), ink.blueF()));
}

/// Returns the shades of one colour, from never chosen to chosen most.
std::array<QRgb, kShades + 1> shades(const QColor& ground, const QColor& ink)
{
    std::array<QRgb, kShades + 1> all{};
    all[0] = shade(ground, ink, kUnused);
    for (int i = 1; i <= kShades; ++i)
        all[std::size_t(i)] = shade(ground, ink, kUsed + (1 - kUsed) * (i - 1) / (kShades - 1));
    return all;
}

QString placeName(Place place)
{
    return place == Place::Host     ? QStringLiteral("host")
           : place == Place::Device ? QStringLiteral("device")
                                    : QStringLiteral("copy");
}

}  // namespace

ExpertMapItem::ExpertMapItem(QQuickItem* parent)
    : MonitorItem(parent)
{
    setAcceptHoverEvents(true);
    m_later.setSingleShot(true);
    connect(&m_later, &QTimer::timeout, this, &ExpertMapItem::takeMap);
    connect(this, &ExpertMapItem::looksChanged, this, &ExpertMapItem::layOut);
    connect(this, &ExpertMapItem::looksChanged, this, &ExpertMapItem::pointedChanged);
}

/// Takes the newest map, also while the item is hidden: the page shows it only if the map has experts.
void ExpertMapItem::takeMap()
{
    const auto map = monitor() && monitor()->showsKv() ? monitor()->frame().expert_map : nullptr;
    if (map == m_map)
        return;
    const bool sameShape = map && m_map && map->layers == m_map->layers && map->experts == m_map->experts;
    if (sameShape && m_taken.isValid() && m_taken.elapsed() < kTakeMs) {
        if (!m_later.isActive())
            m_later.start(int(kTakeMs - m_taken.elapsed()));
        return;
    }
    take(map);
}

void ExpertMapItem::take(std::shared_ptr<const engine::ExpertMap> map)
{
    m_later.stop();
    m_taken.start();
    m_map = std::move(map);
    m_layers.clear();
    m_onHost = m_onDevice = m_copies = 0;
    for (int layer = 0; m_map && m_map->experts > 0 && layer < m_map->layers; ++layer) {
        const auto first = m_map->places.begin() + std::ptrdiff_t(m_map->at(layer, 0));
        const auto last = first + m_map->experts;
        const auto none = int(std::count(first, last, Place::None));
        if (none == m_map->experts)
            continue;
        m_layers.push_back(layer);
        m_onHost += int(std::count(first, last, Place::Host));
        m_onDevice += int(std::count(first, last, Place::Device));
        m_copies += int(std::count(first, last, Place::Copy));
    }
    if (m_pointed && (m_pointed->line >= layers() || m_pointed->expert >= experts()))
        m_pointed.reset();
    Q_EMIT mapChanged();
    Q_EMIT pointedChanged();
    layOut();
}

void ExpertMapItem::onModelChanged()
{
    m_taken.invalidate();
    takeMap();
}

void ExpertMapItem::layOut()
{
    m_lineHeight = layers() > 0 ? std::clamp(std::floor(m_mostHeight / layers()), 1.0, kHighestLine * m_unit) : 0;
    setImplicitHeight(layers() * m_lineHeight);
    redrawSoon();
}

QRectF ExpertMapItem::rect(Cell cell) const
{
    const double left = std::round(width() * cell.expert / experts());
    const double right = std::round(width() * (cell.expert + 1) / experts());
    return {left, cell.line * m_lineHeight, std::max(1.0, right - left), m_lineHeight};
}

const std::vector<std::uint32_t>& ExpertMapItem::chosen(Span span) const
{
    return span == Answer ? m_map->in_answer : m_map->in_conversation;
}

/// Returns a picture with a pixel for each expert of each layer that is drawn.
QImage ExpertMapItem::cells() const
{
    const std::vector<std::uint32_t>& counts = chosen(m_span);
    const std::uint32_t most = counts.empty() ? 0 : *std::max_element(counts.begin(), counts.end());
    const std::array shadesOf = {shades(m_ground, m_hostColor), shades(m_ground, m_deviceColor),
                                 shades(m_ground, m_copyColor)};
    QImage image(experts(), layers(), QImage::Format_RGB32);
    for (int line = 0; line < layers(); ++line) {
        const std::size_t first = m_map->at(m_layers[std::size_t(line)], 0);
        auto* const pixels = reinterpret_cast<QRgb*>(image.scanLine(line));
        for (int expert = 0; expert < experts(); ++expert) {
            const std::size_t at = first + std::size_t(expert);
            const Place place = m_map->places[at];
            const std::uint32_t count = at < counts.size() ? counts[at] : 0;
            // The square root of the count, since a few experts are chosen far more often than most.
            const int strength =
                count == 0 ? 0 : 1 + int(std::lround((kShades - 1) * std::sqrt(double(count) / double(most))));
            pixels[expert] =
                place == Place::None ? m_ground.rgb() : shadesOf[std::size_t(place)][std::size_t(strength)];
        }
    }
    return image;
}

void ExpertMapItem::paint(QImage& picture)
{
    if (!m_map || layers() == 0)
        return;
    QPainter painter(&picture);
    const QImage image = cells();
    const double cellWidth = width() / experts();
    if (cellWidth < kGapFrom || m_lineHeight < kGapFrom) {
        // Where several experts share a pixel, it is their mean.
        const QSize pixels(picture.width(), int(std::lround(layers() * m_lineHeight * picture.devicePixelRatio())));
        QImage scaled = image.scaled(pixels.width(), layers(), Qt::IgnoreAspectRatio,
                                     pixels.width() < experts() ? Qt::SmoothTransformation : Qt::FastTransformation);
        scaled = scaled.scaled(pixels);
        scaled.setDevicePixelRatio(picture.devicePixelRatio());
        painter.drawImage(QPointF(0, 0), scaled);
    } else {
        for (int line = 0; line < layers(); ++line)
            for (int expert = 0; expert < experts(); ++expert)
                painter.fillRect(rect({line, expert}).adjusted(0, 0, -1, -1), QColor(image.pixel(expert, line)));
    }
    if (m_pointed) {
        QRectF mark = rect(*m_pointed);
        mark = QRectF(mark.center().x() - std::max(mark.width(), kGapFrom) / 2, mark.top(),
                      std::max(mark.width(), kGapFrom), std::max(mark.height(), kGapFrom));
        painter.setPen(QPen(m_markColor, 1));
        painter.drawRect(mark.adjusted(-1, -1, 0, 0));
    }
}

void ExpertMapItem::geometryChange(const QRectF& now, const QRectF& before)
{
    if (now.width() != before.width())
        layOut();
    MonitorItem::geometryChange(now, before);
}

void ExpertMapItem::hoverMoveEvent(QHoverEvent* event)
{
    const QPointF at = event->position();
    if (layers() == 0 || at.x() < 0 || at.y() < 0 || at.x() >= width() || at.y() >= layers() * m_lineHeight) {
        point({});
        return;
    }
    point(Cell{int(at.y() / m_lineHeight), std::min(experts() - 1, int(at.x() * experts() / width()))});
}

void ExpertMapItem::hoverLeaveEvent(QHoverEvent*)
{
    forgetPointer();
}

void ExpertMapItem::step(int layers, int experts)
{
    if (this->layers() == 0)
        return;
    const Cell before = m_pointed.value_or(Cell{});
    const bool isNew = !m_pointed;
    point(Cell{std::clamp(before.line + (isNew ? 0 : layers), 0, this->layers() - 1),
               std::clamp(before.expert + (isNew ? 0 : experts), 0, this->experts() - 1)});
}

void ExpertMapItem::forgetPointer()
{
    point({});
}

void ExpertMapItem::point(std::optional<Cell> cell)
{
    if (cell == m_pointed)
        return;
    m_pointed = cell;
    Q_EMIT pointedChanged();
    redrawSoon();
}

QVariantMap ExpertMapItem::pointed() const
{
    if (!m_pointed)
        return {};
    const int layer = m_layers[std::size_t(m_pointed->line)];
    const std::size_t first = m_map->at(layer, 0), at = m_map->at(layer, m_pointed->expert);
    const Place place = m_map->places[at];
    QVariantMap known{{QStringLiteral("layer"), layer},
                      {QStringLiteral("expert"), m_pointed->expert},
                      {QStringLiteral("place"), placeName(place)},
                      {QStringLiteral("counted"), m_map->counted_on_device || place != Place::Device}};
    const auto add = [&](Span span, const QString& key, const QString& share) {
        const std::vector<std::uint32_t>& counts = chosen(span);
        if (counts.size() < first + std::size_t(experts()))
            return;
        double all = 0;
        for (int expert = 0; expert < experts(); ++expert)
            all += counts[first + std::size_t(expert)];
        known[key] = double(counts[at]);
        if (all > 0)
            known[share] = counts[at] / all;
    };
    add(Answer, QStringLiteral("inAnswer"), QStringLiteral("shareOfAnswer"));
    add(Conversation, QStringLiteral("inConversation"), QStringLiteral("shareOfConversation"));
    return known;
}

#include "moc_expert_map_item.cpp"
