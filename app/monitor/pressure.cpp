#include "app/monitor/pressure.h"

Pressure::Pressure(EngineThread& engine, ModelController& models, QObject* parent)
    : QObject(parent)
    , m_placement(engine)
    , m_shownEvents(m_events)
    , m_doctor(engine, [this] { return m_placement.request(); })
{
    EngineWorker* const worker = engine.worker();
    connect(worker, &EngineWorker::telemetryReady, this, [this](quint64 turn, const engine::Telemetry& frame) {
        m_monitor.onFrame(turn, frame);
        m_placement.onFrame(frame);
    });
    connect(worker, &EngineWorker::placementReady, this, [this](const engine::Telemetry& frame) {
        m_monitor.onPlacement(frame);
        m_placement.onFrame(frame);
    });
    connect(worker, &EngineWorker::finished, this, [this](quint64 turn, const engine::Turn& result) {
        m_monitor.onFinished(turn, result);
        m_placement.onFrame(result.telemetry);
    });
    connect(worker, &EngineWorker::loadAdvanced, this,
            [this](quint64, qint64 bytesDone) { m_monitor.onLoadAdvanced(bytesDone); });
    connect(worker, &EngineWorker::eventHappened, this, [this](const engine::Event& event) {
        m_monitor.onEvent(event);
        m_placement.onEvent(event);
        m_events.add(event);
    });

    const auto gone = [this] {
        m_monitor.onModelGone();
        m_placement.onModelGone();
        m_events.clear();
        m_doctor.onModelGone();
    };
    connect(&models, &ModelController::loadStarted, this, gone);
    connect(&models, &ModelController::modelGone, this, gone);
    connect(&models, &ModelController::modelReady, this, [this, &models](const engine::ModelInfo& model) {
        m_monitor.onModelReady(model);
        m_placement.onModelReady(model, models.loadedRequest());
        m_doctor.onModelReady(model);
    });
    connectDoctor(models);
}

void Pressure::connectDoctor(ModelController& models)
{
    connect(&m_doctor, &DoctorController::layersRequested, this, [this](int layers) {
        if (layers < 0)
            m_placement.setAutomatic();
        else
            m_placement.setLayers(layers);
    });
    connect(&m_doctor, &DoctorController::policyRequested, &m_placement, &PlacementController::setPolicy);
    connect(&m_doctor, &DoctorController::budgetRequested, &m_placement, &PlacementController::setBudget);
    connect(&m_doctor, &DoctorController::reloadRequested, &models, &ModelController::reloadWithContext);
}

void Pressure::setRates(const std::shared_ptr<const engine::MachineRates>& rates)
{
    m_placement.setRates(rates);
    m_doctor.setRates(rates);
}
