#include "app/charts/chart_item.h"

#include "app/charts/custom_plot.h"

#include <QClipboard>
#include <QFont>
#include <QGuiApplication>
#include <QPainter>
#include <QVector>

#include <algorithm>
#include <cmath>

namespace {

constexpr double kWheelZoom = 1.25;  // a notch
constexpr double kClosest = 1e-4;    // share of the whole that can be zoomed to
constexpr int kMargin = 4;           // pixels around the axes
constexpr int kTicksX = 4, kTicksY = 3;

/// Gives a plot's axis plain lines in these colours, and this font, in place of QCustomPlot's own look.
void plain(QCPAxis& axis, const QColor& line, const QColor& text, const QFont& font)
{
    axis.setBasePen(QPen(line));
    axis.setTickPen(QPen(line));
    axis.setSubTickPen(Qt::NoPen);
    axis.setTickLength(0, 0);
    axis.setTickLabelColor(text);
    axis.setTickLabelFont(font);
    axis.setTickLabelPadding(kMargin);
}

}  // namespace

ChartItem::ChartItem(QQuickItem* parent)
    : MonitorItem(parent)
    , m_plot(std::make_unique<QCustomPlot>())
{
    setAcceptHoverEvents(true);
    setAcceptedMouseButtons(Qt::LeftButton);
    m_plot->setNoAntialiasingOnDrag(false);
    connect(this, &ChartItem::looksChanged, this, &ChartItem::redrawSoon);
}

ChartItem::~ChartItem() = default;

void ChartItem::setXText(const QJSValue& write)
{
    m_xText = write;
    Q_EMIT looksChanged();
}

void ChartItem::setYText(const QJSValue& write)
{
    m_yText = write;
    Q_EMIT looksChanged();
}

QVariant ChartItem::cursor() const
{
    return m_cursorPixel ? QVariant(xValue(*m_cursorPixel)) : QVariant();
}

double ChartItem::xValue(double pixel) const
{
    return m_plot->xAxis->pixelToCoord(pixel);
}

double ChartItem::yValue(double pixel) const
{
    return m_plot->yAxis->pixelToCoord(pixel);
}

double ChartItem::yPixel(double value) const
{
    return m_plot->yAxis->coordToPixel(value);
}

void ChartItem::setZoom(std::optional<Span> zoom)
{
    const double whole = m_whole.to - m_whole.from;
    if (zoom && whole > 0) {
        const double width = std::clamp(zoom->to - zoom->from, whole * kClosest, whole);
        const double from = std::clamp(zoom->from, m_whole.from, m_whole.to - width);
        zoom = width >= whole ? std::nullopt : std::optional(Span{from, from + width});
    }
    m_zoom = zoom;
    Q_EMIT zoomChanged();
    redrawSoon();
}

void ChartItem::resetZoom()
{
    setZoom({});
}

void ChartItem::zoom(double factor)
{
    const Span seen = m_zoom.value_or(m_whole);
    const double center = m_cursorPixel ? xValue(*m_cursorPixel) : (seen.from + seen.to) / 2;
    setZoom(Span{center - (center - seen.from) / factor, center + (seen.to - center) / factor});
}

void ChartItem::pan(double share)
{
    if (!m_zoom)
        return;
    const double by = share * (m_zoom->to - m_zoom->from);
    setZoom(Span{m_zoom->from + by, m_zoom->to + by});
}

void ChartItem::setEmpty(bool empty)
{
    if (m_empty == empty)
        return;
    m_empty = empty;
    Q_EMIT emptyChanged();
}

void ChartItem::copyPicture() const
{
    QGuiApplication::clipboard()->setImage(picture().convertToFormat(QImage::Format_RGB32));
}

std::optional<QPointF> ChartItem::pointNear(double) const
{
    return {};
}

bool ChartItem::dragBegins(double, double)
{
    return false;
}

void ChartItem::dragGoesOn(double, double) {}

void ChartItem::dragEnds(bool) {}

// ---- the picture ----

void ChartItem::style(QCustomPlot& plot) const
{
    QFont font(m_fontFamily);
    font.setPixelSize(std::max(1, m_fontPixels));
    plot.setBackground(QBrush(m_ground));
    plain(*plot.xAxis, m_grid, m_mutedInk, font);
    plain(*plot.yAxis, m_grid, m_mutedInk, font);
    plot.xAxis->grid()->setPen(Qt::NoPen);
    plot.yAxis->grid()->setPen(QPen(m_grid));
    plot.yAxis->grid()->setZeroLinePen(Qt::NoPen);
    plot.yAxis->setBasePen(Qt::NoPen);
    plot.axisRect()->setMinimumMargins(QMargins(kMargin, kMargin + m_fontPixels / 2, kMargin + m_fontPixels, kMargin));
}

QList<double> ChartItem::ticksX(double, double) const
{
    return {};
}

void ChartItem::labelAxes() const
{
    const QCPRange seen = m_plot->xAxis->range();
    label(*m_plot->xAxis, m_xText, ticksX(seen.lower, seen.upper));
    m_plot->yAxis->setTicks(!m_empty);
    m_plot->yAxis->setTickLabels(!m_empty);
    m_plot->yAxis->grid()->setVisible(!m_empty);
    label(*m_plot->yAxis, m_yText, {});
}

/// Writes the numbers of an axis: at the places that are given, or at round ones where none are; the page words them.
void ChartItem::label(QCPAxis& axis, const QJSValue& text, const QList<double>& ticks) const
{
    const auto ticker = QSharedPointer<QCPAxisTickerText>::create();
    const auto add = [&](double value) {
        ticker->addTick(value, text.isCallable() ? text.call({value}).toString() : QString::number(value));
    };
    for (const double tick : ticks)
        add(tick);
    const QCPRange range = axis.range();
    const int wanted = axis.orientation() == Qt::Horizontal ? kTicksX : kTicksY;
    const double rough = range.size() / wanted;
    if (ticks.isEmpty() && rough > 0 && std::isfinite(rough)) {
        const double power = std::pow(10.0, std::floor(std::log10(rough)));
        const double digits = rough / power;
        const double step = power * (digits < 1.5 ? 1 : digits < 3.5 ? 2 : digits < 7.5 ? 5 : 10);
        const auto first = qint64(std::ceil(range.lower / step)), last = qint64(std::floor(range.upper / step + 1e-6));
        for (qint64 tick = first; tick <= last; ++tick)
            add(double(tick) * step);
    }
    axis.setTicker(ticker);
}

void ChartItem::fillWhole()
{
    m_plot->clearPlottables();
    m_plot->clearItems();
    style(*m_plot);
    fill(*m_plot);
}

void ChartItem::drawWhole(QCPPainter& painter, const QSize& size)
{
    fillWhole();
    labelAxes();
    m_plot->toPainter(&painter, size.width(), size.height());
    redrawSoon();
}

void ChartItem::paint(QImage& picture)
{
    fillWhole();
    m_whole = {m_plot->xAxis->range().lower, m_plot->xAxis->range().upper};
    if (m_zoom)
        m_plot->xAxis->setRange(m_zoom->from, m_zoom->to);
    labelAxes();

    picture.fill(m_ground);
    {
        QCPPainter painter;
        painter.begin(&picture);
        m_plot->toPainter(&painter, int(width()), int(height()));
    }
    drawCursor(picture);
}

void ChartItem::drawCursor(QImage& picture) const
{
    if (!m_cursorPixel || m_drag != Drag::None)
        return;
    const QRect inner = m_plot->axisRect()->rect();
    if (*m_cursorPixel < inner.left() || *m_cursorPixel > inner.right())
        return;
    QPainter painter(&picture);
    painter.setPen(QPen(m_mutedInk, 1, Qt::DotLine));
    painter.drawLine(QPointF(*m_cursorPixel, inner.top()), QPointF(*m_cursorPixel, inner.bottom()));
    if (const auto point = pointNear(xValue(*m_cursorPixel))) {
        painter.setRenderHint(QPainter::Antialiasing);
        painter.setClipRect(inner);
        painter.setPen(QPen(m_ink, 1.5));
        painter.setBrush(m_ground);
        painter.drawEllipse(QPointF(m_plot->xAxis->coordToPixel(point->x()), yPixel(point->y())), 3.5, 3.5);
    }
}

// ---- the pointer ----

void ChartItem::setCursor(std::optional<double> pixel)
{
    if (pixel == m_cursorPixel)
        return;
    m_cursorPixel = pixel;
    Q_EMIT cursorChanged();
    redrawSoon();
}

void ChartItem::hoverMoveEvent(QHoverEvent* event)
{
    setCursor(event->position().x());
}

void ChartItem::hoverLeaveEvent(QHoverEvent*)
{
    setCursor({});
}

void ChartItem::mousePressEvent(QMouseEvent* event)
{
    forceActiveFocus(Qt::MouseFocusReason);
    m_dragFrom = event->position().x();
    m_zoomAtDrag = m_zoom.value_or(m_whole);
    m_drag = dragBegins(xValue(event->position().x()), yValue(event->position().y())) ? Drag::Line : Drag::Chart;
    setKeepMouseGrab(true);
}

void ChartItem::mouseMoveEvent(QMouseEvent* event)
{
    if (m_drag == Drag::Line)
        dragGoesOn(xValue(event->position().x()), yValue(event->position().y()));
    if (m_drag == Drag::Chart && m_zoom) {
        const double perPixel = (m_zoomAtDrag.to - m_zoomAtDrag.from) / std::max(1, m_plot->axisRect()->width());
        const double by = (m_dragFrom - event->position().x()) * perPixel;
        setZoom(Span{m_zoomAtDrag.from + by, m_zoomAtDrag.to + by});
    }
    redrawSoon();
}

void ChartItem::mouseReleaseEvent(QMouseEvent*)
{
    if (m_drag == Drag::Line)
        dragEnds(true);
    m_drag = Drag::None;
    setKeepMouseGrab(false);
    redrawSoon();
}

void ChartItem::mouseUngrabEvent()
{
    if (m_drag == Drag::Line)
        dragEnds(false);
    m_drag = Drag::None;
    redrawSoon();
}

void ChartItem::mouseDoubleClickEvent(QMouseEvent*)
{
    resetZoom();
}

void ChartItem::wheelEvent(QWheelEvent* event)
{
    // The wheel zooms with Ctrl, as in other programs; without it the panel scrolls.
    if (!(event->modifiers() & Qt::ControlModifier)) {
        event->ignore();
        return;
    }
    setCursor(event->position().x());
    zoom(std::pow(kWheelZoom, event->angleDelta().y() / 120.0));
}

#include "moc_chart_item.cpp"
