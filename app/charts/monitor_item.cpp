#include "app/charts/monitor_item.h"

void MonitorItem::setMonitor(PressureMonitor* monitor)
{
    if (monitor == m_monitor)
        return;
    if (m_monitor)
        m_monitor->disconnect(this);
    m_monitor = monitor;
    if (m_monitor) {
        connect(m_monitor, &PressureMonitor::changed, this, &MonitorItem::onMeasured);
        connect(m_monitor, &PressureMonitor::modelChanged, this, &MonitorItem::onModelChanged);
        connect(m_monitor, &QObject::destroyed, this, [this] { m_monitor = nullptr; });
    }
    Q_EMIT monitorChanged();
    onMeasured();
}

#include "moc_monitor_item.cpp"
