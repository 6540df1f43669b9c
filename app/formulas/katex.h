// KaTeX sets a formula: LaTeX to boxes with sizes and places.
#pragma once

#include <QByteArray>
#include <QJSEngine>
#include <QJSValue>
#include <QString>

#include <atomic>
#include <memory>

/// Runs KaTeX (https://katex.org, JavaScript) in an engine of its own, which can reach nothing outside of it. Used and
/// deleted on one thread; only `interrupt` may be called from another one.
class Katex
{
public:
    /// Says whether the program was built with KaTeX.
    static bool available();

    /// Returns the formula's boxes as JSON (see formula_tree.js). Empty: KaTeX cannot read it, it is too large, or it
    /// was interrupted.
    QByteArray boxes(const QString& latex, bool display);

    /// Ends the formula that is being set.
    void interrupt();

private:
    bool load();

    std::unique_ptr<QJSEngine> m_engine;  // made when it is first needed, on the thread that uses it
    QJSValue m_formulaTree;
    std::atomic<QJSEngine*> m_running = nullptr;
};
