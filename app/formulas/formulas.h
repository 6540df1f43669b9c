// Formulas sets the formulas of messages for the documents that show them.
#pragma once

#include "app/formulas/formula_fonts.h"
#include "app/formulas/formula_picture.h"

#include <QCache>
#include <QObject>
#include <QSet>
#include <QThread>
#include <QTimer>
#include <QtQml/qqmlregistration.h>

#include <optional>
#include <utility>

class FormulaSetter;

/// Runs KaTeX on a thread of its own, one formula after the other, each for two seconds at most; lays out what KaTeX
/// has made, and keeps it. Lives on the UI thread; owned by the QML engine.
class Formulas : public QObject
{
    Q_OBJECT
    QML_ELEMENT
    QML_SINGLETON
    Q_PROPERTY(bool available READ available CONSTANT)  // false: built without KaTeX

public:
    struct Look {
        double pixels;  // size of the text around
        FormulaInk ink;
        double scale;  // pixels of the screen for one of the page
    };

    explicit Formulas(QObject* parent = nullptr, qsizetype kept = kMostKept);
    ~Formulas() override;

    static constexpr qsizetype kMostKept = 2000;  // short formulas; longer ones count more

    static bool available();

    /// Returns the formula's picture, and has it made if it was not asked for before. Nothing: it is not made yet (see
    /// settled()), or it cannot be made.
    std::optional<FormulaPicture> picture(const QString& latex, bool display, const Look& look);
    /// Says whether the formula has been tried: if it has no picture now, it cannot have one.
    bool settled(const QString& latex, bool display) const;

Q_SIGNALS:
    /// Formulas have been tried since the last signal.
    void someSettled();

    void wanted(const QString& latex, bool display);  // for the thread

private:
    using Key = std::pair<QString, bool>;

    void take(const QString& latex, bool display, const QByteArray& boxes);
    void startThread();
    void tell();

    QCache<Key, std::optional<FormulaLayout>> m_set;
    QSet<Key> m_waiting;
    FormulaFonts m_fonts;
    QThread m_thread;
    FormulaSetter* m_setter = nullptr;  // lives on the thread, which deletes it
    QTimer m_deadline;
    QTimer m_tell;
};
