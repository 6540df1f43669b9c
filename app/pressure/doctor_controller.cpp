#include "app/pressure/doctor_controller.h"

#include "app/pressure/doctor_text.h"
#include "app/pressure/expert_placement.h"
#include "app/system/background.h"

#include <QCoreApplication>
#include <QPointer>

#include <utility>

namespace {

QVariant orUndefined(std::optional<double> value)
{
    return value ? QVariant(*value) : QVariant();
}

}  // namespace

DoctorController::DoctorController(EngineThread& engine, std::function<Present()> present, QObject* parent)
    : QObject(parent)
    , m_engine(engine)
    , m_present(std::move(present))
{
    EngineWorker* const worker = engine.worker();
    connect(
        worker, &EngineWorker::telemetryReady, this,
        [watch = m_watch](quint64, const engine::Telemetry& frame) { watch->onFrame(frame); }, Qt::DirectConnection);
    connect(worker, &EngineWorker::placementReady, this, &DoctorController::countBetween);
    connect(worker, &EngineWorker::failed, this, [this](quint64 turn) { m_turns.remove(turn); });
    connect(
        worker, &EngineWorker::finished, this,
        [watch = m_watch, guard = QPointer(this)](quint64 number, const engine::Turn& turn) {
            const auto waited = watch->onEnd(turn.telemetry);
            QMetaObject::invokeMethod(
                qApp,
                [guard, number, last = turn.telemetry, waited] {
                    if (guard)
                        guard->onFinished(number, last, waited);
                },
                Qt::QueuedConnection);
        },
        Qt::DirectConnection);
}

QString DoctorController::sentence() const
{
    return doctorSentence(m_diagnosis);
}

QString DoctorController::suggestion() const
{
    return doctorSuggestion(m_diagnosis.action);
}

bool DoctorController::canApply() const
{
    return ::canApply(m_diagnosis.action);
}

QVariant DoctorController::tokensPerSecond() const
{
    return orUndefined(m_diagnosis.tokensPerSecond);
}

QVariant DoctorController::predicted() const
{
    return orUndefined(m_diagnosis.predicted);
}

QString DoctorController::shares() const
{
    return doctorShares(m_diagnosis);
}

QString DoctorController::scope() const
{
    return doctorScope(m_diagnosis.action);
}

QString DoctorController::result() const
{
    return m_change ? doctorResult(m_change->action, m_change->before, m_change->after) : QString();
}

void DoctorController::apply()
{
    if (!canApply())
        return;
    const DoctorAction action = m_diagnosis.action;
    m_change = Change{action, opposite(action), m_diagnosis.tokensPerSecond};
    // What was asked for is judged by the next answer.
    m_diagnosis.action = {};
    m_diagnosis.predicted.reset();
    ask(action);
    Q_EMIT changed();
}

void DoctorController::undo()
{
    if (!canUndo())
        return;
    const DoctorAction back = m_change->undo;
    m_change.reset();
    ask(back);
    Q_EMIT changed();
}

/// What brings back what is now.
DoctorAction DoctorController::opposite(const DoctorAction& action) const
{
    using Action = DoctorAction::Kind;
    const Present now = m_present();
    const engine::PlacementOptions& placement = now.request.placement;
    switch (action.kind) {
    case Action::SetLayers:
        return {action.kind, placement.device_layers.value_or(-1)};
    case Action::SetHostExperts:
        return {action.kind, placement.host_expert_layers.value_or(-1)};
    case Action::SetRoomForCopies:
        return {action.kind, ExpertPlacement::roomIn(placement)};
    case Action::SetPolicy:
        return {action.kind, qint64(placement.kv_policy)};
    case Action::SetKvType:
        return now.request.k_type == now.request.v_type ? DoctorAction{action.kind, qint64(now.request.k_type)}
                                                        : DoctorAction();
    case Action::SetBudget:
        return {action.kind, placement.vram_budget_bytes};
    case Action::SetThreads:
        return {action.kind, m_threads.value_or(now.request.threads)};
    case Action::ReloadWithContext:
        return {action.kind, m_model ? m_model->context_in_use : 0};
    case Action::GrowBack:
        return {Action::Shrink, placement.vram_budget_bytes};
    default:
        return {};
    }
}

void DoctorController::ask(const DoctorAction& action)
{
    using Action = DoctorAction::Kind;
    switch (action.kind) {
    case Action::SetLayers:
        Q_EMIT layersRequested(int(action.value));
        break;
    case Action::SetHostExperts:
        Q_EMIT hostExpertsRequested(int(action.value));
        break;
    case Action::SetRoomForCopies:
        Q_EMIT roomForCopiesRequested(double(action.value));
        break;
    case Action::SetPolicy:
        Q_EMIT policyRequested(int(action.value));
        break;
    case Action::SetKvType:
        Q_EMIT kvTypeRequested(engine::KvType(action.value));
        break;
    case Action::SetBudget:
        Q_EMIT budgetRequested(double(action.value));
        break;
    case Action::SetThreads:
        m_threads = int(action.value);
        m_engine.worker()->post(engine::SetThreads{*m_threads});  // at once; the setting is for later loads
        Q_EMIT threadsRequested(*m_threads);
        break;
    case Action::ReloadWithContext:
        Q_EMIT reloadRequested(int(action.value));
        break;
    case Action::GrowBack:
        Q_EMIT growRequested();
        break;
    case Action::Shrink:
        Q_EMIT shrinkRequested(double(action.value));
        break;
    case Action::None:
    case Action::SmallerQuantisation:
    case Action::CloseOtherPrograms:
        break;
    }
}

void DoctorController::onModelReady(const engine::ModelInfo& model)
{
    m_model = model;
    m_expertHits = m_expertMisses = 0;
    m_earlier.clear();
    m_threads.reset();
    show({});
}

void DoctorController::onModelGone()
{
    m_model.reset();
    m_turns.clear();
    // What was asked for may be this very load.
    if (m_change && m_change->action.kind != DoctorAction::Kind::ReloadWithContext)
        m_change.reset();
    show({});
}

void DoctorController::onConversation(const QString& conversation)
{
    if (conversation == m_shown)
        return;
    m_shown = conversation;
    m_earlier.clear();
    m_change.reset();
    show({});
}

/// While nothing is answered here, other programs' answers may read experts.
void DoctorController::countBetween(const engine::Telemetry& frame)
{
    if (!m_turns.isEmpty() || !frame.device)
        return;
    m_expertHits = frame.device->expert_hits;
    m_expertMisses = frame.device->expert_misses;
}

/// The answer's own: the engine counts since the model was loaded, or since it came to its device.
void DoctorController::countReads(const engine::Telemetry& last, DoctorFacts& facts)
{
    if (!last.device)
        return;
    const qint64 hits = last.device->expert_hits, misses = last.device->expert_misses;
    const bool anew = hits < m_expertHits || misses < m_expertMisses;
    facts.expertHits = double(anew ? hits : hits - m_expertHits);
    facts.expertMisses = double(anew ? misses : misses - m_expertMisses);
    m_expertHits = hits;
    m_expertMisses = misses;
}

void DoctorController::onFinished(quint64 turn, const engine::Telemetry& last, std::optional<double> waitedS)
{
    const QString conversation = m_turns.take(turn);
    DoctorFacts reads;
    countReads(last, reads);
    if (!m_model || !last.shares || conversation != m_shown)
        return;
    if (last.reused_tokens == 0)  // it was begun anew
        m_earlier.clear();
    const Present present = m_present();
    engine::LoadRequest request = present.request;
    request.model = m_model->path;
    request.context_tokens = m_model->context_in_use;
    DoctorFacts facts = doctorFacts(last, *m_model, request);
    facts.waitedS = waitedS;
    facts.expertHits = reads.expertHits;
    facts.expertMisses = reads.expertMisses;
    facts.earlier = m_earlier;
    facts.shrunk = present.budgetBefore.has_value();
    facts.before = m_diagnosis.kind;
    const auto speed = measuredSpeed(last);
    if (speed)
        m_earlier.push_back(*speed);
    if (m_change && !m_change->after)
        m_change->after = speed;
    // The planner reads the file's header, and asks a GPU.
    const auto look = [facts = std::move(facts), request = std::move(request), rates = m_rates,
                       grown = present.budgetBefore]() mutable {
        if (const auto planner = engine::Planner::open(request.model))
            addPredictions(facts, *planner, request, rates.get(), grown);
        return diagnose(facts);
    };
    inBackground(this, look, [this, job = ++m_job](const Diagnosis& diagnosis) {
        if (job == m_job)
            show(diagnosis);
    });
}

void DoctorController::show(const Diagnosis& diagnosis)
{
    if (diagnosis.kind == Diagnosis::Kind::Nothing)
        ++m_job;  // what is being looked at is of the model before
    m_diagnosis = diagnosis;
    Q_EMIT changed();
}
