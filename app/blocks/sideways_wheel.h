// SidewaysWheel moves what scrolls sideways with the wheel.
#pragma once

#include <QObject>
#include <QQuickItem>
#include <QtQml/qqmlregistration.h>

class QWheelEvent;

/// Moves a Flickable sideways with Shift and the wheel, and with what turns or swipes sideways; leaves everything else
/// to the page around it, which a Flickable does not: it takes a whole swipe for the least movement to the side. Lives
/// on the UI thread; the page owns it.
class SidewaysWheel : public QObject
{
    Q_OBJECT
    QML_ELEMENT
    Q_PROPERTY(QQuickItem* view READ view WRITE setView NOTIFY viewChanged REQUIRED)

public:
    using QObject::QObject;

    QQuickItem* view() const { return m_view; }
    void setView(QQuickItem* view);

Q_SIGNALS:
    void viewChanged();

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void scroll(qreal distance);

    QQuickItem* m_view = nullptr;
};
