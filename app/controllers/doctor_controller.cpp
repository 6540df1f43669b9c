#include "app/controllers/doctor_controller.h"

#include "app/monitor/doctor_text.h"

#include <QCoreApplication>
#include <QPointer>
#include <QThreadPool>

#include <utility>

namespace {

QVariant orUndefined(std::optional<double> value)
{
    return value ? QVariant(*value) : QVariant();
}

}  // namespace

DoctorController::DoctorController(EngineThread& engine, std::function<engine::LoadRequest()> present, QObject* parent)
    : QObject(parent)
    , m_engine(engine)
    , m_present(std::move(present))
{
    connect(engine.worker(), &EngineWorker::finished, this,
            [this](quint64, const engine::Turn& turn) { onFinished(turn.telemetry); });
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

void DoctorController::apply()
{
    using Action = DoctorAction::Kind;
    const DoctorAction action = m_diagnosis.action;
    switch (action.kind) {
    case Action::SetLayers:
        Q_EMIT layersRequested(int(action.value));
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
        m_engine.worker()->post(engine::SetThreads{int(action.value)});  // at once; the setting is for later loads
        Q_EMIT threadsRequested(int(action.value));
        break;
    case Action::ReloadWithContext:
        Q_EMIT reloadRequested(int(action.value));
        break;
    case Action::None:
    case Action::SmallerQuantisation:
    case Action::CloseOtherPrograms:
        return;
    }
    // What was asked for is judged by the next answer.
    m_diagnosis.action = {};
    m_diagnosis.predicted.reset();
    Q_EMIT changed();
}

void DoctorController::onModelReady(const engine::ModelInfo& model)
{
    m_model = model;
    m_earlier.clear();
    show({});
}

void DoctorController::onModelGone()
{
    m_model.reset();
    show({});
}

void DoctorController::onFinished(const engine::Telemetry& last)
{
    if (!m_model || !last.shares)
        return;
    if (last.reused_tokens == 0)  // another conversation
        m_earlier.clear();
    engine::LoadRequest request = m_present();
    request.model = m_model->path;
    request.context_tokens = m_model->context_in_use;
    DoctorFacts facts = doctorFacts(last, *m_model, request);
    facts.earlier = m_earlier;
    if (last.decode_tokens_per_s)
        m_earlier.push_back(*last.decode_tokens_per_s);
    // The planner reads the file's header, and asks a GPU.
    QThreadPool::globalInstance()->start([facts = std::move(facts), request = std::move(request), rates = m_rates,
                                          job = ++m_job, guard = QPointer(this)]() mutable {
        if (const auto planner = engine::Planner::open(request.model))
            addPredictions(facts, *planner, request, rates.get());
        QMetaObject::invokeMethod(
            qApp,
            [guard, job, diagnosis = diagnose(facts)] {
                if (guard && job == guard->m_job)
                    guard->show(diagnosis);
            },
            Qt::QueuedConnection);
    });
}

void DoctorController::show(const Diagnosis& diagnosis)
{
    if (diagnosis.kind == Diagnosis::Kind::Nothing)
        ++m_job;  // what is being looked at is of the model before
    m_diagnosis = diagnosis;
    Q_EMIT changed();
}
