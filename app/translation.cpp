#include "app/translation.h"

#include <QCoreApplication>
#include <QLibraryInfo>
#include <QLocale>

namespace {

/// Texts of Qt's own file dialog that are missing in Qt's translations: it finds them in ours.
[[maybe_unused]] const char* const kOfFileDialog[] = {QT_TRANSLATE_NOOP("FileDialog", "File name"),
                                                      QT_TRANSLATE_NOOP("FileDialog", "Filter")};

}  // namespace

Translation::Translation(const QString& language, QObject* parent)
    : QObject(parent)
{
    use(language);
}

Translation::~Translation()
{
    QCoreApplication::removeTranslator(&m_program);
    QCoreApplication::removeTranslator(&m_qt);
}

void Translation::use(const QString& language)
{
    const QLocale locale = language == QLatin1String("system") ? QLocale::system() : QLocale(language);
    QCoreApplication::removeTranslator(&m_program);
    QCoreApplication::removeTranslator(&m_qt);
    QLocale::setDefault(locale);
    // The source texts are English, so the English file holds the plural forms only.
    const bool spoken =
        m_program.load(locale, QStringLiteral("spillway"), QStringLiteral("_"), QStringLiteral(":/i18n"));
    if (!spoken)
        (void)m_program.load(QStringLiteral(":/i18n/spillway_en.qm"));
    QCoreApplication::installTranslator(&m_program);
    if (spoken && m_qt.load(locale, QStringLiteral("qtbase"), QStringLiteral("_"),
                            QLibraryInfo::path(QLibraryInfo::TranslationsPath)))
        QCoreApplication::installTranslator(&m_qt);
    Q_EMIT changed(locale.bcp47Name());
}

#include "moc_translation.cpp"
