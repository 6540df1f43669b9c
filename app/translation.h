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

    /// "system", or the name of a language: "en", "de". What it does not speak becomes English.
    void use(const QString& language);

Q_SIGNALS:
    void changed(const QString& locale);  // that numbers are written in

private:
    QTranslator m_program;
    QTranslator m_qt;
};
