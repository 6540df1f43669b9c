#include "app/formulas/katex.h"

#include <QFile>

namespace {

constexpr int kMostBoxes = 6000;
constexpr int kDeepest = 120;

QString read(const char* name)
{
    QFile file(QLatin1String(":/katex/") + QLatin1String(name));
    return file.open(QIODevice::ReadOnly) ? QString::fromUtf8(file.readAll()) : QString();
}

}  // namespace

bool Katex::available()
{
    static const bool there = QFile::exists(QStringLiteral(":/katex/katex.js"));
    return there;
}

bool Katex::load()
{
    if (!m_engine) {
        m_engine = std::make_unique<QJSEngine>();
        m_engine->evaluate(read("katex.js"), QStringLiteral("katex.js"));
        m_engine->evaluate(read("formula_tree.js"), QStringLiteral("formula_tree.js"));
        m_formulaTree = m_engine->globalObject().property(QStringLiteral("formulaTree"));
        m_running = m_engine.get();
    }
    m_engine->setInterrupted(false);
    return m_formulaTree.isCallable();
}

QByteArray Katex::boxes(const QString& latex, bool display)
{
    if (!load())
        return {};
    const QJSValue tree = m_formulaTree.call({latex, display, kMostBoxes, kDeepest});
    return tree.isString() ? tree.toString().toUtf8() : QByteArray();
}

void Katex::interrupt()
{
    if (QJSEngine* const engine = m_running)
        engine->setInterrupted(true);
}
