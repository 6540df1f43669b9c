// PassShortcuts lets the window's shortcuts work while a text that is only read has the keyboard.
#pragma once

#include <QObject>
#include <QQuickItem>
#include <QtQml/qqmlregistration.h>

/// A TextEdit that is read-only claims every key for itself (Qt 6.4), so that the window's shortcuts are dead as soon
/// as somebody has clicked into a text. This gives the keys to the window, but those for selecting and moving in the
/// text; and what is copied has its formulas as LaTeX. Lives on the UI thread; the page owns it.
class PassShortcuts : public QObject
{
    Q_OBJECT
    QML_ELEMENT
    Q_PROPERTY(QQuickItem* text READ text WRITE setText NOTIFY textChanged REQUIRED)

public:
    using QObject::QObject;

    QQuickItem* text() const { return m_text; }
    void setText(QQuickItem* text);

Q_SIGNALS:
    void textChanged();

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    QQuickItem* m_text = nullptr;
};
