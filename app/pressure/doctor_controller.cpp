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
        [watch = m_watch](quint64, const engine::Telemetry& frame, bool alone) {
            if (alone)
                watch->onFrame(frame);
        },
        Qt::DirectConnection);
    connect(worker, &EngineWorker::placementReady, this, &DoctorController::countBetween);
    connect(worker, &EngineWorker::failed, this, [this](quint64 turn) { m_turns.remove(turn); });
    connect(
        worker, &EngineWorker::finished, this,
        [watch = m_watch, guard = QPointer(this)](quint64 number, const engine::Turn& turn, bool alone) {
            const Waited waited{watch->onEnd(turn.telemetry), watch->diskBytes()};
            QMetaObject::invokeMethod(
                qApp,
                [guard, number, last = turn.telemetry, waited, alone] {
                    if (guard)
                        guard->onFinished(number, last, waited, alone);
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

QVariant DoctorController::predictedAtMost() const
{
    return orUndefined(m_diagnosis.predictedAtMost);
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
    const bool guesses = action.kind == DoctorAction::Kind::SetDraftModel;
    m_change = Change{m_model->path, action, opposite(action), guesses ? m_answered : m_diagnosis.tokensPerSecond};
    m_begunBefore = m_turns.keys();
    withdrawSuggestion();  // the next answer shows what the change brought
    ask(action, m_model->path);
    Q_EMIT changed();
}

void DoctorController::undo()
{
    if (!canUndo())
        return;
    const Change change = *std::exchange(m_change, std::nullopt);
    m_begunBefore = m_turns.keys();
    ask(change.undo, change.model);
    Q_EMIT changed();
}

/// Returns the action that restores what is set now.
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
    case Action::SetDraftModel:
        return {.kind = action.kind, .file = QString::fromStdU16String(now.request.draft_model.u16string())};
    case Action::UseDevice:
        return {.kind = action.kind, .file = QStringLiteral("cpu")};
    case Action::GrowBack:
        return {Action::Shrink, placement.vram_budget_bytes};
    default:
        return {};
    }
}

void DoctorController::ask(const DoctorAction& action, const std::filesystem::path& model)
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
    case Action::SetDraftModel:
        Q_EMIT draftModelRequested(QString::fromStdU16String(model.u16string()), action.file);
        break;
    case Action::UseDevice:
        Q_EMIT deviceRequested(action.file);
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
    m_expertHits = m_expertMisses = m_copiedBytes = 0;
    m_earlier.clear();
    m_threads.reset();
    if (m_change && m_change->model != model.path)
        m_change.reset();
    show({});
}

void DoctorController::onModelGone()
{
    m_model.reset();
    m_turns.clear();
    m_begunBefore.clear();
    // This load may be the change itself, with another context or draft model; any other load ends the change's
    // judgement.
    using Action = DoctorAction::Kind;
    if (m_change && m_change->action.kind != Action::ReloadWithContext &&
        m_change->action.kind != Action::SetDraftModel)
        m_change.reset();
    show({});
}

void DoctorController::onGrown()
{
    if (m_diagnosis.action.kind != DoctorAction::Kind::GrowBack)
        return;
    withdrawSuggestion();
    Q_EMIT changed();
}

void DoctorController::withdrawSuggestion()
{
    m_diagnosis.action = {};
    m_diagnosis.predicted.reset();
    m_diagnosis.predictedAtMost.reset();
}

void DoctorController::onConversation(const QString& conversation)
{
    if (conversation == m_shown)
        return;
    m_shown = conversation;
    m_earlier.clear();
    m_change.reset();
    m_draftsFailed.clear();
    show({});
}

/// Returns the bytes that were copied to stay there for more than a step of a prompt.
static qint64 copiedTo(const engine::DeviceTelemetry& device)
{
    return device.to_device_bytes - device.expert_streamed_bytes;
}

/// Takes the engine's counters as the starting point while no answer runs here: other programs' answers count in them,
/// too.
void DoctorController::countBetween(const engine::Telemetry& frame)
{
    if (!m_turns.isEmpty() || !frame.device)
        return;
    m_expertHits = frame.device->expert_hits;
    m_expertMisses = frame.device->expert_misses;
    m_copiedBytes = copiedTo(*frame.device);
}

/// Puts into the facts what this answer alone read and copied: the engine's counters run since the model was loaded, or
/// since it moved to its device.
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
    const qint64 copied = copiedTo(*last.device);
    facts.copiedBytes = double(copied < m_copiedBytes ? copied : copied - m_copiedBytes);
    m_copiedBytes = copied;
}

/// Suggests no draft model for a mixture of experts, where each further row reads other experts, nor for a model with a
/// block that guesses.
std::optional<DoctorDraft> DoctorController::draftFor(const engine::LoadRequest& request,
                                                      const engine::Telemetry& last) const
{
    const bool has = last.draft_model || !m_model->draft_model.empty();
    if (has || m_model->experts > 0 || m_model->memory.mtp_numbers > 0 || m_draftsFailed == m_model->path)
        return {};
    const auto draft = m_drafts(request);
    return draft ? std::optional(doctorDraft(*draft, request, last.context_tokens)) : std::nullopt;
}

/// Sets the speed after a change to that of the first answer after it. For a draft model that is the answer's whole
/// speed; for other changes it is the speed without drafts, which does not depend on how much the text repeats.
void DoctorController::judgeChange(const engine::Telemetry& last)
{
    const auto speed = measuredSpeed(last);
    m_answered = last.decode_tokens_per_s ? last.decode_tokens_per_s : speed;
    const bool guesses = m_change && m_change->action.kind == DoctorAction::Kind::SetDraftModel;
    if (m_change && !m_change->after)
        m_change->after = guesses ? m_answered : speed;
    const bool slower = guesses && m_change->before && m_change->after && *m_change->after < *m_change->before;
    if (slower || (last.draft_model && slowedByDrafts(last)))
        m_draftsFailed = m_model->path;
}

void DoctorController::onFinished(quint64 turn, const engine::Telemetry& last, const Waited& waited, bool alone)
{
    const QString conversation = m_turns.take(turn);
    const bool begunBefore = m_begunBefore.removeOne(turn);
    DoctorFacts reads;
    countReads(last, reads);
    if (!m_model || !last.shares || conversation != m_shown)
        return;
    if (!alone) {  // turns that share steps say nothing about the machine; the diagnosis before is out of date
        show({});
        return;
    }
    if (begunBefore)
        return;                   // part of it was made before the change, part after it
    if (last.reused_tokens == 0)  // the conversation was begun anew
        m_earlier.clear();
    const Present present = m_present();
    engine::LoadRequest request = present.request;
    request.model = m_model->path;
    request.context_tokens = m_model->context_in_use;
    DoctorFacts facts = doctorFacts(last, *m_model, request);
    facts.waitedS = waited.coresS;
    facts.diskBytes = waited.diskBytes;
    facts.expertHits = reads.expertHits;
    facts.expertMisses = reads.expertMisses;
    facts.copiedBytes = reads.copiedBytes;
    facts.earlier = m_earlier;
    facts.shrunk = present.budgetBefore.has_value();
    facts.unusedGpu = present.unusedGpu;
    facts.before = m_diagnosis.kind;
    judgeChange(last);
    facts.draft = draftFor(request, last);
    if (const auto speed = measuredSpeed(last))
        m_earlier.push_back(*speed);
    // On a pool thread, since the planner reads the file's header and may open a GPU.
    const auto look = [facts = std::move(facts), request = std::move(request), rates = m_rates,
                       grown = present.budgetBefore]() mutable {
        if (const auto planner = engine::Planner::open(request.model))
            addPredictions(facts, *planner, request, rates.get(), grown);
        return diagnose(facts);
    };
    inBackground(this, look, [this, job = ++m_job](const Diagnosis& diagnosis) {
        if (job != m_job)
            return;
        show(diagnosis);
        if (!m_present().budgetBefore)
            onGrown();  // the budget has grown back while the pool thread worked
    });
}

void DoctorController::show(const Diagnosis& diagnosis)
{
    if (diagnosis.kind == Diagnosis::Kind::Nothing)
        ++m_job;  // drops the result of an examination that still runs
    m_diagnosis = diagnosis;
    Q_EMIT changed();
}

#include "moc_doctor_controller.cpp"
