#include "app/experiments/experiments_controller.h"

#include "app/exchange/export_job.h"
#include "app/experiments/experiment_exports.h"
#include "app/experiments/experiment_json.h"
#include "app/system/background.h"
#include "app/system/chosen_path.h"
#include "app/text/visible_text.h"

#include <QDesktopServices>
#include <QFileInfo>

#include <algorithm>
#include <utility>

namespace {

constexpr qsizetype kLongestName = 200;

ExperimentFacts factsOf(const ExperimentRun& run)
{
    ExperimentFacts facts;
    facts.id = run.id;
    facts.name = run.name;
    facts.started = double(run.started.toMSecsSinceEpoch());
    facts.machine = run.machine;
    facts.cores = run.cores;
    facts.kernels = run.kernels;
    facts.device = run.plan.device;
    facts.memory = run.plan.memory;
    facts.rows = int(run.rows.size());
    facts.cancelled = run.cancelled;
    return facts;
}

QString kvName(engine::KvType type)
{
    const std::string_view name = name_of(type);
    return QString::fromUtf8(name.data(), qsizetype(name.size()));
}

}  // namespace

ExperimentsController::ExperimentsController(TurnRunner& turns, ModelController& models, World world, QObject* parent)
    : QObject(parent)
    , m_turns(turns)
    , m_models(models)
    , m_world(std::move(world))
    , m_draft(m_world.choices().placement)
    , m_store(m_world.folder)
    , m_runner(m_world.program)
{
    connect(&m_turns, &TurnRunner::turnsChanged, this, &ExperimentsController::onTurnsChanged);
    connect(&m_models, &ModelController::setAside, this, [this] {
        if (m_state == MakingRoom)
            measure();
        else if (m_state == Cancelling)  // the model comes back after all have heard that it is closed
            QMetaObject::invokeMethod(
                this, [this] { onFinished(true); }, Qt::QueuedConnection);
    });
    connect(&m_runner, &ExperimentRunner::rowStarted, this, &ExperimentsController::progressChanged);
    connect(&m_runner, &ExperimentRunner::rowFinished, this, &ExperimentsController::onRow);
    connect(&m_runner, &ExperimentRunner::finished, this, &ExperimentsController::onFinished);
}

ExperimentsController::~ExperimentsController()
{
    m_runner.disconnect(this);  // what its signals would change is destroyed, too
}

QString ExperimentsController::roomNote() const
{
    if (m_setAside.isEmpty() || m_state < MakingRoom)
        return {};
    return tr("“%1” was closed to make room, and comes back when this has ended.").arg(m_setAside);
}

QString ExperimentsController::currentModel() const
{
    const auto cell = m_runner.current();
    return cell && m_measured ? m_measured->plan.models[cell->model].title : QString();
}

int ExperimentsController::currentContext() const
{
    const auto cell = m_runner.current();
    return cell ? cell->contextTokens : 0;
}

QString ExperimentsController::currentStrategy() const
{
    const auto cell = m_runner.current();
    return cell ? strategyName(cell->strategy) : QString();
}

QString ExperimentsController::currentExperts() const
{
    const auto cell = m_runner.current();
    const bool placed = cell && m_measured && m_measured->plan.placesExperts(cell->model, cell->strategy);
    return placed ? expertsName(cell->experts) : QString();
}

QVariant ExperimentsController::madeShare() const
{
    const auto share = m_runner.madeShare();
    return share ? QVariant(*share) : QVariant();
}

QVariant ExperimentsController::remainingMs() const
{
    const auto seconds = m_runner.remainingSeconds();
    return seconds ? QVariant(std::max(0.0, *seconds) * 1e3) : QVariant();
}

QList<ExperimentFacts> ExperimentsController::runs() const
{
    QList<ExperimentFacts> facts;
    for (const ExperimentRun& run : m_runs)
        facts.append(factsOf(run));
    return facts;
}

ExperimentFacts ExperimentsController::shown() const
{
    const ExperimentRun* const run = find(m_shownId);
    return run ? factsOf(*run) : ExperimentFacts();
}

void ExperimentsController::begin()
{
    m_draft.setCandidates(m_world.files());
    if (std::exchange(m_begun, true))
        return;
    m_runs = m_store.runs();
    show(m_runs.isEmpty() ? QString() : m_runs.first().id);
    // On another thread, since a driver may take a second to start.
    inBackground(this, m_world.devices, [this](const std::vector<engine::DeviceInfo>& found) {
        for (const engine::DeviceInfo& device : found)
            if (device.id.starts_with("cuda") && device.obstacle.empty())
                m_draft.addDevice(QString::fromStdString(device.id),
                                  VisibleText::of(QString::fromStdString(device.description)));
    });
}

// ---- measuring ----

void ExperimentsController::start()
{
    if (m_state != Idle)
        return;
    setTrouble(obstacle());
    if (!m_trouble.isEmpty())
        return;
    if (m_turns.busy())
        setState(AnswerRuns);
    else
        makeRoom();
}

/// Returns why nothing can be measured now; empty: it can.
QString ExperimentsController::obstacle() const
{
    if (QString missing = m_draft.obstacle(); !missing.isEmpty())
        return missing;
    if (m_world.program.isEmpty())
        return tr("spillway-cli is missing: it measures, and belongs beside this program.");
    if (m_models.phase() != ModelController::Idle)
        return tr("A model is being opened. Measure when that has ended.");
    return {};
}

void ExperimentsController::waitAndStart()
{
    if (m_state != AnswerRuns)
        return;
    setState(Waiting);
    onTurnsChanged();  // the answer may have ended while the user was deciding
}

void ExperimentsController::stopAndStart()
{
    if (m_state != AnswerRuns)
        return;
    setState(Waiting);
    m_turns.stopAll();
    onTurnsChanged();
}

void ExperimentsController::onTurnsChanged()
{
    if (m_turns.busy())
        return;
    if (m_state == Waiting)
        makeRoom();
    else if (m_state == AnswerRuns)
        setState(Idle);  // nothing is in the way any more
}

void ExperimentsController::makeRoom()
{
    setTrouble(obstacle());  // the plan may have changed, or a model be loading, since start()
    if (!m_trouble.isEmpty())
        return setState(Idle);
    m_measured = planned();
    m_setAside = m_models.current().known() ? m_models.current().name : QString();
    setState(MakingRoom);
    if (!m_models.makeRoom())  // nothing is open
        measure();
}

ExperimentRun ExperimentsController::planned() const
{
    const engine::LoadRequest choices = m_world.choices();
    ExperimentRun run;
    run.id = m_store.newId();
    run.started = QDateTime::currentDateTimeUtc();
    run.plan = m_draft.plan();
    run.plan.threads = choices.threads;
    run.plan.kvType = kvName(choices.k_type);
    run.name = nameFor(run);
    const engine::DeviceInfo cpu = engine::cpu_device();
    run.machine = QString::fromStdString(cpu.description + ", " + cpu.kernels);
    run.cores = cpu.cores;
    run.kernels = QString::fromStdString(cpu.kernels);
    return run;
}

void ExperimentsController::measure()
{
    keep(*m_measured);
    show(m_measured->id);
    setState(Measuring);
    m_runner.start(m_measured->plan);
    Q_EMIT progressChanged();
}

/// Names a run after its models. The page also shows its minute, so only runs of one minute need different names.
QString ExperimentsController::nameFor(const ExperimentRun& run) const
{
    const QString first = run.plan.models.first().title;
    const QString models =
        run.plan.models.size() == 1 ? first : tr("%1 and %n more", nullptr, int(run.plan.models.size()) - 1).arg(first);
    const auto taken = [&](const QString& name) {
        return std::ranges::any_of(m_runs, [&](const ExperimentRun& other) {
            return other.name == name && other.started.secsTo(run.started) < 60;
        });
    };
    QString name = models;
    for (int number = 2; taken(name); ++number)
        name = QStringLiteral("%1 (%2)").arg(models).arg(number);
    return name;
}

void ExperimentsController::cancel()
{
    if (m_state == AnswerRuns || m_state == Waiting) {
        setState(Idle);
    } else if (m_state == MakingRoom) {
        setState(Cancelling);  // until the model is closed, and can be opened again
    } else if (m_state == Measuring) {
        setState(Cancelling);
        m_runner.cancel();
    }
}

void ExperimentsController::onRow(const ExperimentRow& row)
{
    m_measured->rows.append(row);
    m_measured->cancelled = row.outcome == Outcome::Cancelled;
    if (const ExperimentRun* const kept = find(m_measured->id))
        m_measured->name = kept->name;  // it may have been renamed meanwhile
    if (m_shownId == m_measured->id)
        m_rows.addRow(row);
    keep(*m_measured);  // each row at once: nothing is lost if the program crashes
    Q_EMIT progressChanged();
}

void ExperimentsController::onFinished(bool)
{
    m_measured.reset();
    setState(Idle);
    m_setAside.clear();
    m_models.giveRoomBack();
    Q_EMIT progressChanged();
}

// ---- what is kept ----

const ExperimentRun* ExperimentsController::find(const QString& id) const
{
    const auto found = std::ranges::find_if(m_runs, [&](const ExperimentRun& run) { return run.id == id; });
    return found == m_runs.end() ? nullptr : &*found;
}

void ExperimentsController::keep(const ExperimentRun& run)
{
    const auto known = std::ranges::find_if(m_runs, [&](const ExperimentRun& other) { return other.id == run.id; });
    if (known == m_runs.end())
        m_runs.prepend(run);
    else
        *known = run;
    if (run.id == m_comparedId)
        m_rows.setEarlier(run);
    if (const QString sentence = m_store.save(run); !sentence.isEmpty())
        setTrouble(sentence);
    Q_EMIT runsChanged();
}

void ExperimentsController::show(const QString& id)
{
    const ExperimentRun* const run = find(id);
    m_shownId = run ? id : QString();
    m_rows.setRun(run ? *run : ExperimentRun());
    if (m_comparedId == m_shownId)
        compare({});
    Q_EMIT runsChanged();
}

void ExperimentsController::compare(const QString& id)
{
    const ExperimentRun* const run = id == m_shownId ? nullptr : find(id);
    m_comparedId = run ? id : QString();
    m_rows.setEarlier(run ? std::optional(*run) : std::nullopt);
    Q_EMIT runsChanged();
}

void ExperimentsController::rename(const QString& id, const QString& name)
{
    const ExperimentRun* const run = find(id);
    const QString wanted = VisibleText::of(name).trimmed().left(kLongestName);
    if (!run || wanted.isEmpty() || wanted == run->name)
        return;
    ExperimentRun renamed = *run;
    renamed.name = wanted;
    keep(renamed);
}

void ExperimentsController::remove(const QString& id)
{
    if (m_measured && m_measured->id == id)
        return;  // it is still being measured
    if (const QString sentence = m_store.remove(id); !sentence.isEmpty()) {
        setTrouble(sentence);
        return;
    }
    m_runs.removeIf([&](const ExperimentRun& run) { return run.id == id; });
    if (m_comparedId == id)
        compare({});
    if (m_shownId == id)
        show(m_runs.isEmpty() ? QString() : m_runs.first().id);
    Q_EMIT runsChanged();
}

QUrl ExperimentsController::suggestedFile(const QString& suffix) const
{
    return QUrl::fromLocalFile(
        QStringLiteral("%1/%2.%3").arg(documentsFolder(), ExportJob::fileName(shown().name), suffix));
}

QString ExperimentsController::save(const QUrl& file) const
{
    const QString path = chosenPath(file);
    const ExperimentRun* const kept = find(m_shownId);
    const ExperimentRun run = kept ? *kept : ExperimentRun();
    const bool json = path.endsWith(QLatin1String(".json"), Qt::CaseInsensitive);
    return ExperimentExports::write(
        path, json ? ExperimentJson::write(run)
                   : ExperimentExports::csv(run, Strategy::Name(m_rows.base()), m_rows.earlier()));
}

void ExperimentsController::showFolder(const QUrl& file)
{
    if (!QDesktopServices::openUrl(QUrl::fromLocalFile(QFileInfo(chosenPath(file)).absolutePath())))
        setTrouble(tr("The folder could not be shown."));
}

void ExperimentsController::setState(State state)
{
    if (m_state == state)
        return;
    m_state = state;
    Q_EMIT stateChanged();
}

void ExperimentsController::setTrouble(const QString& sentence)
{
    if (m_trouble == sentence)
        return;
    m_trouble = sentence;
    Q_EMIT troubleChanged();
}

#include "moc_experiments_controller.cpp"
