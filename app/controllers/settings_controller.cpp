#include "app/controllers/settings_controller.h"

#include <QEvent>
#include <QGuiApplication>
#include <QPalette>
#include <QSettings>

#if QT_VERSION >= QT_VERSION_CHECK(6, 5, 0)
#include <QStyleHints>
#endif

namespace {

const char* const kThemeKey = "window/theme";

bool desktopIsDark()
{
#if QT_VERSION >= QT_VERSION_CHECK(6, 5, 0)
    if (const auto scheme = QGuiApplication::styleHints()->colorScheme(); scheme != Qt::ColorScheme::Unknown)
        return scheme == Qt::ColorScheme::Dark;
#endif
    const QPalette palette = QGuiApplication::palette();
    return palette.color(QPalette::Window).lightnessF() < palette.color(QPalette::WindowText).lightnessF();
}

}  // namespace

SettingsController::SettingsController(QObject* parent)
    : QObject(parent)
{
    const QString stored = QSettings().value(QLatin1String(kThemeKey)).toString();
    if (stored == QLatin1String("light"))
        m_theme = Light;
    else if (stored == QLatin1String("dark"))
        m_theme = Dark;
    qApp->installEventFilter(this);
}

void SettingsController::setTheme(Theme theme)
{
    if (m_theme == theme)
        return;
    const char* const names[] = {"system", "light", "dark"};
    QSettings().setValue(QLatin1String(kThemeKey), QLatin1String(names[theme]));
    overrideTheme(theme);
}

void SettingsController::overrideTheme(Theme theme)
{
    if (m_theme == theme)
        return;
    m_theme = theme;
    Q_EMIT themeChanged();
    Q_EMIT darkChanged();
}

bool SettingsController::dark() const
{
    return m_theme == Dark || (m_theme == System && desktopIsDark());
}

bool SettingsController::eventFilter(QObject* watched, QEvent* event)
{
    if (event->type() == QEvent::ApplicationPaletteChange)
        Q_EMIT darkChanged();
    return QObject::eventFilter(watched, event);
}
