#include "app/experiments/experiment_runner.h"

#include "app/experiments/experiment_json.h"
#include "app/system/child_process.h"
#include "app/text/engine_words.h"
#include "app/text/known_sentence.h"
#include "app/text/visible_text.h"

#include <QCoreApplication>
#include <QDir>
#include <QStandardPaths>

#include <algorithm>
#include <cmath>
#include <utility>

namespace {

constexpr qsizetype kMostOutput = 1024 * 1024;
constexpr qsizetype kMostErrors = 64 * 1024;  // bytes; of more the last are kept
constexpr int kUsage = 2;                     // spillway-cli's exit code for wrong options

/// Returns how much work a row is, in no unit: reading grows with the context, and attention with its square. A context
/// longer than the model was made for is refused as soon as the model is open.
double workOf(const ExperimentPlan& plan, const ExperimentCell& cell)
{
    constexpr double kStart = 2000, kSquare = 1.0 / 32768;
    const int madeFor = plan.models[cell.model].contextTokens;
    if (madeFor > 0 && cell.contextTokens > madeFor)
        return kStart;
    const double tokens = cell.contextTokens;
    return kStart + tokens + tokens * tokens * kSquare;
}

/// Returns the engine's reason, which is in English, in the user's language. A reason that is not translated stands in
/// brackets behind a general sentence, as in errorSentence().
QString refusal(const QString& reason)
{
    if (QString known = knownSentence(reason); !known.isEmpty())
        return known;
    const char* const kind = QT_TRANSLATE_NOOP("ExperimentRunner", "It was refused (%1).");
    const QString translated = QCoreApplication::translate("ExperimentRunner", kind);
    return translated == QLatin1String(kind) ? asSentence(reason) : translated.arg(engineWords(reason));
}

}  // namespace

ExperimentRunner::ExperimentRunner(QString program, QObject* parent)
    : QObject(parent)
    , m_program(std::move(program))
    , m_shape(QDir::tempPath())
{
    connect(&m_shape, &ExperimentShape::made, this, &ExperimentRunner::startChild);
    connect(&m_shape, &ExperimentShape::failed, this, &ExperimentRunner::onShapeFailed);
    m_limit.setSingleShot(true);
    connect(&m_limit, &QTimer::timeout, this,
            [this] { end(Outcome::TimedOut, tr("It took more than %1 min and was ended.").arg(m_plan.rowMinutes)); });
}

ExperimentRunner::~ExperimentRunner()
{
    dropProcess();
}

QString ExperimentRunner::findProgram()
{
    const QString beside = QCoreApplication::applicationDirPath();
    return QStandardPaths::findExecutable(QStringLiteral("spillway-cli"), {beside, beside + QStringLiteral("/cli")});
}

QStringList ExperimentRunner::arguments(const ExperimentPlan& plan, const ExperimentCell& cell, const QString& file)
{
    const int answer = std::min(plan.answerTokens, cell.contextTokens / 2);
    QStringList arguments{QStringLiteral("bench"), QStringLiteral("--json"), QStringLiteral("--within-context"),
                          QStringLiteral("--model=") + file};  // it may begin with a dash
    const auto number = [&](const char* option, int value) {
        arguments << QLatin1String(option) << QString::number(value);
    };
    number("-c", cell.contextTokens);
    number("-p", 0);
    number("-n", answer);
    number("-d", cell.contextTokens - answer);
    number("-r", plan.repeats);
    number("-t", plan.threads);
    arguments << QStringLiteral("--ctk") << plan.kvType << QStringLiteral("--ctv") << plan.kvType;
    if (cell.strategy == Strategy::CpuOnly)
        return arguments << QStringLiteral("--device") << QStringLiteral("cpu");
    arguments << QStringLiteral("--device") << plan.device << QStringLiteral("--kv-policy")
              << strategyKey(cell.strategy);
    if (!plan.memory.isEmpty())
        arguments << (plan.device == QLatin1String("emulated") ? QStringLiteral("--vram")
                                                               : QStringLiteral("--vram-budget"))
                  << plan.memory;
    if (cell.experts.inRam)
        arguments << QStringLiteral("--cpu-moe");
    if (cell.experts.copies != ExpertChoice::kNoCopies)
        arguments << QStringLiteral("--expert-cache") << cell.experts.copies;
    return arguments;
}

bool ExperimentRunner::start(const ExperimentPlan& plan)
{
    const QList<ExperimentCell> cells = plan.cells();
    if (m_running || cells.isEmpty())
        return false;
    m_plan = plan;
    m_cells = cells;
    m_done = 0;
    m_measuredSeconds = m_measuredWork = 0;
    m_running = true;
    startNext();
    return true;
}

void ExperimentRunner::cancel()
{
    if (m_shape.making()) {
        m_shape.drop();
        finishRow(rowWithout(Outcome::Cancelled, tr("It was cancelled.")));
    } else if (m_running) {
        end(Outcome::Cancelled, tr("It was cancelled."));
    }
}

std::optional<ExperimentCell> ExperimentRunner::current() const
{
    return m_running && m_done < m_cells.size() ? std::optional(m_cells[m_done]) : std::nullopt;
}

std::optional<double> ExperimentRunner::madeShare() const
{
    return m_shape.making() ? std::optional(m_shape.share()) : std::nullopt;
}

std::optional<double> ExperimentRunner::remainingSeconds() const
{
    if (!m_running || m_measuredWork <= 0)
        return {};
    const double secondsPerWork = m_measuredSeconds / m_measuredWork;
    double left = 0;
    for (qsizetype i = m_done; i < m_cells.size(); ++i)
        left += secondsPerWork * workOf(m_plan, m_cells[i]);
    const double ofThis = m_done < m_cells.size() ? secondsPerWork * workOf(m_plan, m_cells[m_done]) : 0;
    return m_process ? left - std::min(ofThis, double(m_clock.elapsed()) / 1e3) : left;
}

void ExperimentRunner::startNext()
{
    const ExperimentModel& model = m_plan.models[m_cells[m_done].model];
    if (!model.path.isEmpty())
        m_shape.drop();  // the shape's rows have all been measured
    if (model.path.isEmpty() && m_shape.shape() != model.shape) {
        m_shape.make(model.shape);
        Q_EMIT rowStarted();
    } else {
        startChild();
    }
}

void ExperimentRunner::onShapeFailed(const QString& sentence)
{
    finishRow(rowWithout(Outcome::Refused, sentence));
}

void ExperimentRunner::startChild()
{
    const ExperimentModel& model = m_plan.models[m_cells[m_done].model];
    m_out.clear();
    m_errors.clear();
    m_ending.reset();
    m_process = std::make_unique<QProcess>();
    connect(m_process.get(), &QProcess::readyReadStandardOutput, this, &ExperimentRunner::onOutput);
    connect(m_process.get(), &QProcess::readyReadStandardError, this, &ExperimentRunner::onErrors);
    connect(m_process.get(), &QProcess::finished, this, &ExperimentRunner::onFinished);
    // Queued, so that it comes after start() has returned on every system.
    connect(m_process.get(), &QProcess::errorOccurred, this, &ExperimentRunner::onProcessError, Qt::QueuedConnection);
    m_process->setStandardInputFile(QProcess::nullDevice());
    endWithThisProgram(*m_process);
    m_clock.start();
    m_limit.start(std::chrono::minutes(m_plan.rowMinutes));
    m_process->start(m_program, arguments(m_plan, m_cells[m_done], model.path.isEmpty() ? m_shape.file() : model.path));
    Q_EMIT rowStarted();
}

void ExperimentRunner::onOutput()
{
    m_out += m_process->readAllStandardOutput();
    if (m_out.size() > kMostOutput)
        end(Outcome::Garbled, tr("It printed more than a measurement can be."));
}

void ExperimentRunner::onErrors()
{
    m_errors = (m_errors + m_process->readAllStandardError()).right(kMostErrors);
}

void ExperimentRunner::onProcessError(QProcess::ProcessError error)
{
    if (error != QProcess::FailedToStart || !m_process)
        return;
    finishRow(rowWithout(m_ending.value_or(Outcome::Crashed),
                         m_ending ? m_endingSentence : tr("spillway-cli could not be started.")));
}

void ExperimentRunner::onFinished(int exitCode, QProcess::ExitStatus status)
{
    onErrors();
    if (m_out.size() <= kMostOutput)
        m_out += m_process->readAllStandardOutput();
    ExperimentRow row;
    row.cell = m_cells[m_done];
    if (m_ending) {
        row.outcome = *m_ending;
        row.sentence = m_endingSentence;
    } else if (status == QProcess::CrashExit) {
        row.outcome = Outcome::Crashed;
        row.sentence = tr("The process crashed.");
    } else if (exitCode != 0) {
        const QString reason = childsReason(m_errors);
        row.outcome = exitCode == kUsage || reason.isEmpty() ? Outcome::Garbled : Outcome::Refused;
        row.sentence =
            reason.isEmpty() ? tr("It ended with the code %1 and gave no reason.").arg(exitCode) : refusal(reason);
    } else if (!ExperimentJson::takeBench(m_out, row)) {
        row.outcome = Outcome::Garbled;
        row.sentence = tr("It printed something that is no measurement.");
    }
    finishRow(row);
}

/// Kills the child. Its row gets this outcome and this sentence.
void ExperimentRunner::end(Outcome::Kind outcome, const QString& sentence)
{
    if (m_ending || !m_process)
        return;
    m_ending = outcome;
    m_endingSentence = sentence;
    m_process->kill();
}

/// Returns a row of the present cell that has no numbers.
ExperimentRow ExperimentRunner::rowWithout(Outcome::Kind outcome, const QString& sentence) const
{
    ExperimentRow row;
    row.cell = m_cells[m_done];
    row.outcome = outcome;
    row.sentence = sentence;
    return row;
}

void ExperimentRunner::finishRow(ExperimentRow row)
{
    m_limit.stop();
    row.seconds = m_process ? double(m_clock.elapsed()) / 1e3 : 0;
    if (row.outcome == Outcome::Measured) {
        m_measuredSeconds += row.seconds;
        m_measuredWork += workOf(m_plan, row.cell);
    }
    if (m_process) {
        m_process->disconnect(this);
        m_process.release()->deleteLater();  // not deleted at once: its signal may have led here
    }
    ++m_done;
    const bool cancelled = row.outcome == Outcome::Cancelled;
    m_running = !cancelled && m_done < m_cells.size();
    Q_EMIT rowFinished(row);
    if (m_running) {
        startNext();
        return;
    }
    m_shape.drop();
    Q_EMIT finished(cancelled);
}

void ExperimentRunner::dropProcess()
{
    if (!m_process)
        return;
    m_process->disconnect(this);
    m_process->kill();
    m_process->waitForFinished();
    m_process.reset();
}

#include "moc_experiment_runner.cpp"
