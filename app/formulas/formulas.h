// Sets the formulas of messages: asked for by the documents that show them.
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

/// KaTeX runs on a thread of its own, one formula after the other, each for two seconds at most; what it made is laid
/// out and kept here. Lives on the UI thread; the pages' engine owns it.
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
        double scale;  // pixels of the screen to one of the page
    };

    explicit Formulas(QObject* parent = nullptr, qsizetype kept = kMostKept);
    ~Formulas() override;

    static constexpr qsizetype kMostKept = 2000;  // formulas that are short

    static bool available();

    /// The formula's picture; nothing as long as it is not there (`settled` says when it is) and when it cannot be set.
    std::optional<FormulaPicture> picture(const QString& latex, bool display, const Look& look);
    /// Says whether the formula has been tried: if it has no picture now it will have none.
    bool settled(const QString& latex, bool display) const;

Q_SIGNALS:
    /// Some formulas have been tried that had not been.
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
