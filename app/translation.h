// Translation sets the language of the window.
#pragma once

#include <QObject>
#include <QTranslator>

/// Puts the program's and Qt's own texts into one of the languages it speaks, at any time. Lives on the UI thread;
/// owned by Program.
class Translation : public QObject
{
    Q_OBJECT

public:
    explicit Translation(const QString& language, QObject* parent = nullptr);
    ~Translation() override;

    /// Changes the language: "system", or its name such as "en" or "de". English replaces one that has no translation.
    void use(const QString& language);

Q_SIGNALS:
    void changed(const QString& locale);  // the BCP 47 name of the locale of numbers and dates

private:
    QTranslator m_program;
    QTranslator m_qt;
};
