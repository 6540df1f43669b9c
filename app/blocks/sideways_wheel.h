// SidewaysWheel scrolls a Flickable sideways with the wheel.
#pragma once

#include <QObject>
#include <QQuickItem>
#include <QtQml/qqmlregistration.h>

class QWheelEvent;

/// Moves a Flickable sideways when the wheel is turned with Shift, and at turns and swipes to the side. Leaves all
/// other wheel events to the page around it. A Flickable itself would take a whole swipe that moves a little to the
/// side. Lives on the UI thread; the page owns it.
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
