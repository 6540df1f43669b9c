#include "app/blocks/sideways_wheel.h"

#include <QGuiApplication>
#include <QStyleHints>
#include <QWheelEvent>

#include <cmath>

namespace {

constexpr qreal kLine = 24;    // pixels
constexpr qreal kNotch = 120;  // angleDelta() of one notch

/// Returns how far to scroll to the left, in pixels (negative: to the right); 0: not sideways.
qreal sideways(const QWheelEvent& wheel)
{
    const bool pixels = !wheel.pixelDelta().isNull();
    const QPointF delta = pixels ? QPointF(wheel.pixelDelta()) : QPointF(wheel.angleDelta());
    const bool across = std::abs(delta.x()) > std::abs(delta.y());
    if (!across && !(wheel.modifiers() & Qt::ShiftModifier))
        return 0;
    const qreal turned = across ? delta.x() : delta.y();
    return pixels ? turned : turned / kNotch * QGuiApplication::styleHints()->wheelScrollLines() * kLine;
}

}  // namespace

void SidewaysWheel::setView(QQuickItem* view)
{
    if (view == m_view)
        return;
    if (m_view)
        m_view->removeEventFilter(this);
    m_view = view;
    if (m_view)
        m_view->installEventFilter(this);
    Q_EMIT viewChanged();
}

bool SidewaysWheel::eventFilter(QObject*, QEvent* event)
{
    if (event->type() != QEvent::Wheel)
        return false;
    const qreal distance = sideways(static_cast<QWheelEvent&>(*event));
    const bool ours = distance != 0 && m_view->property("contentWidth").toReal() > m_view->width();
    if (ours)
        scroll(distance);
    event->setAccepted(ours);
    return true;
}

void SidewaysWheel::scroll(qreal distance)
{
    const qreal farthest = m_view->property("contentWidth").toReal() - m_view->width();
    const qreal now = m_view->property("contentX").toReal();
    m_view->setProperty("contentX", qBound(qreal(0), now - distance, farthest));
}

#include "moc_sideways_wheel.cpp"
