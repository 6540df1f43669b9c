// MonitorItem is a picture of what a PressureMonitor has.
#pragma once

#include "app/charts/picture_item.h"
#include "app/pressure/pressure_monitor.h"

#include <QtQml/qqmlregistration.h>

/// Follows the monitor that the page gives it, until one of the two is destroyed. Lives on the UI thread.
class MonitorItem : public PictureItem
{
    Q_OBJECT
    QML_ANONYMOUS
    Q_PROPERTY(PressureMonitor* monitor READ monitor WRITE setMonitor NOTIFY monitorChanged)

public:
    using PictureItem::PictureItem;

    PressureMonitor* monitor() const { return m_monitor; }  // null: there is none
    void setMonitor(PressureMonitor* monitor);

Q_SIGNALS:
    void monitorChanged();

protected:
    virtual void onMeasured() = 0;  // called at each measurement, and when the monitor is another one
    virtual void onModelChanged() {}

private:
    PressureMonitor* m_monitor = nullptr;
};
