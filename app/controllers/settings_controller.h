// What the user has chosen for good.
#pragma once

#include <QObject>
#include <QtQml/qqmlregistration.h>

/// The settings of the window: the theme, so far. Kept in the user's configuration folder. Lives on the UI thread;
/// owned by Program.
class SettingsController : public QObject
{
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("made by the program")
    Q_PROPERTY(Theme theme READ theme WRITE setTheme NOTIFY themeChanged)
    Q_PROPERTY(bool dark READ dark NOTIFY darkChanged)

public:
    enum Theme { System, Light, Dark };
    Q_ENUM(Theme)

    explicit SettingsController(QObject* parent = nullptr);

    Theme theme() const { return m_theme; }
    void setTheme(Theme theme);       // kept
    void overrideTheme(Theme theme);  // for this run
    bool dark() const;                // what the theme comes to on this desktop now

Q_SIGNALS:
    void themeChanged();
    void darkChanged();

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    Theme m_theme = System;
};
