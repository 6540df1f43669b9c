#include "app/formulas/formulas.h"

#include "app/formulas/katex.h"

#include <QElapsedTimer>

/// Holds KaTeX on the thread where it runs.
class FormulaSetter : public QObject
{
public:
    Katex katex;
};

namespace {

constexpr int kDeadlineMs = 2000;
constexpr int kTellMs = 30;  // formulas that are set within this time are shown together
constexpr int kMostTellMs = 2000;
constexpr qsizetype kShort = 100;  // characters of a formula that takes as much memory as any
constexpr uint kStackBytes = 16u << 20;

}  // namespace

Formulas::Formulas(QObject* parent, qsizetype kept)
    : QObject(parent)
    , m_set(kept)
{
    m_deadline.setSingleShot(true);
    m_deadline.setInterval(kDeadlineMs);
    connect(&m_deadline, &QTimer::timeout, this, [this] { m_setter->katex.interrupt(); });
    m_tell.setSingleShot(true);
    m_tell.setInterval(kTellMs);
    connect(&m_tell, &QTimer::timeout, this, &Formulas::tell);
}

Formulas::~Formulas()
{
    if (!m_setter)
        return;
    m_thread.requestInterruption();
    m_setter->katex.interrupt();
    m_thread.quit();
    m_thread.wait();
}

bool Formulas::available()
{
    return Katex::available();
}

std::optional<FormulaPicture> Formulas::picture(const QString& latex, bool display, const Look& look)
{
    const Key key(latex, display);
    if (const auto* const layout = m_set.object(key)) {
        if (!*layout)
            return {};
        FormulaPicture picture = paintFormula(**layout, look.pixels, look.ink, look.scale);
        return picture.image.isNull() ? std::nullopt : std::optional(std::move(picture));
    }
    if (!Katex::available() || m_waiting.contains(key))
        return {};
    startThread();
    if (m_waiting.isEmpty())
        m_deadline.start();
    m_waiting.insert(key);
    Q_EMIT wanted(latex, display);
    return {};
}

bool Formulas::settled(const QString& latex, bool display) const
{
    return !Katex::available() || m_set.contains({latex, display});
}

void Formulas::startThread()
{
    if (m_setter)
        return;
    m_thread.setObjectName(QStringLiteral("formulas"));
    m_thread.setStackSize(kStackBytes);
    m_setter = new FormulaSetter;
    m_setter->moveToThread(&m_thread);
    connect(&m_thread, &QThread::finished, m_setter, &QObject::deleteLater);
    connect(this, &Formulas::wanted, m_setter, [this, setter = m_setter](const QString& latex, bool display) {
        if (QThread::currentThread()->isInterruptionRequested())
            return;
        const QByteArray boxes = setter->katex.boxes(latex, display);
        QMetaObject::invokeMethod(this, [this, latex, display, boxes] { take(latex, display, boxes); });
    });
    m_thread.start();
}

void Formulas::take(const QString& latex, bool display, const QByteArray& boxes)
{
    const Key key(latex, display);
    m_waiting.remove(key);
    if (m_waiting.isEmpty())
        m_deadline.stop();
    else
        m_deadline.start();
    auto* const layout = new std::optional<FormulaLayout>;
    if (const auto root = readFormulaBoxes(boxes))
        *layout = layOut(*root, m_fonts);
    m_set.insert(key, layout, 1 + latex.size() / kShort);
    if (!m_tell.isActive())
        m_tell.start();
}

/// Tells the documents that formulas were set. Each document then writes all of its text again; while many formulas are
/// set, the documents are told so rarely that this takes no more than a quarter of the time.
void Formulas::tell()
{
    QElapsedTimer timer;
    timer.start();
    Q_EMIT someSettled();
    m_tell.setInterval(int(qBound(qint64(kTellMs), 3 * timer.elapsed(), qint64(kMostTellMs))));
}

#include "moc_formulas.cpp"
