#include "app/pressure/pressure.h"

#include "app/text/reasoning.h"
#include "app/text/visible_text.h"

namespace {

constexpr qsizetype kBeginning = 48;        // characters of a message
constexpr qsizetype kReadForIt = 4 * 1024;  // characters of it that are read for that: reasoning may come first

QString beginningOf(const StoredMessage& message)
{
    const QString head = message.text.left(kReadForIt);
    const QString answer = message.role == StoredMessage::Role::Assistant ? answerOf(head) : head;
    const QString words = VisibleText::of(answer.isEmpty() ? head : answer).simplified();
    return words.size() > kBeginning ? words.left(kBeginning).trimmed() + QStringLiteral("…") : words;
}

}  // namespace

Pressure::Pressure(EngineThread& engine, ModelController& models, QObject* parent)
    : QObject(parent)
    , m_models(models)
    , m_placement(engine)
    , m_shownEvents(m_events)
    , m_doctor(engine, [this] {
        return DoctorController::Present{m_placement.request(), m_placement.budgetBeforeYield(),
                                         m_devices ? m_devices->unusedGpu() : std::nullopt};
    })
{
    EngineWorker* const worker = engine.worker();
    connect(worker, &EngineWorker::telemetryReady, this,
            [this](quint64 turn, const engine::Telemetry& frame, bool alone) {
                const bool beside = m_monitor.recorder().followsAnother(turn);
                m_monitor.onFrame(turn, frame);
                if (!beside)
                    m_placement.onFrame(frame, alone);
            });
    connect(worker, &EngineWorker::placementReady, this, [this](const engine::Telemetry& frame) {
        m_monitor.onPlacement(frame);
        m_placement.onFrame(frame);
    });
    connect(worker, &EngineWorker::finished, this, [this](quint64 turn, const engine::Turn& result, bool alone) {
        const bool beside = m_monitor.recorder().followsAnother(turn);
        m_monitor.onFinished(turn, result);
        if (!beside)
            m_placement.onFrame(result.telemetry, alone);
    });
    connect(worker, &EngineWorker::failed, this, [this](quint64 turn) { m_monitor.onFailed(turn); });
    connect(worker, &EngineWorker::loadAdvanced, this,
            [this](quint64, qint64 bytesDone) { m_monitor.onLoadAdvanced(bytesDone); });
    connect(worker, &EngineWorker::eventHappened, this,
            [this](const engine::Event& event, quint64, const QStringList& conversations) {
                m_monitor.onEvent(event, conversations);
                m_placement.onEvent(event);
            });
    connect(&m_monitor.recorder(), &FlightRecorder::moved, this, [this](const PlacementMove& move) {
        if (!m_monitor.replaying())
            m_events.add(move);
    });
    connect(&m_monitor, &PressureMonitor::modelChanged, this, &Pressure::showMoves);
    connect(m_placement.forecast(), &PlacementForecast::changed, this, [this] {
        const QVariant tokens = m_placement.forecast()->spillTokens();
        m_monitor.recorder().setSpillTokens(tokens.isValid() ? std::optional(tokens.toInt()) : std::nullopt);
    });

    const auto gone = [this] {
        m_monitor.onModelGone();
        m_placement.onModelGone();
        m_doctor.onModelGone();
    };
    connect(&models, &ModelController::loadStarted, this, gone);
    connect(&m_placement, &PlacementController::changed, &models,
            [this, &models] { models.onDevice(m_placement.device()); });
    connect(&models, &ModelController::modelGone, this, gone);
    models.setChanged([this](const engine::PlacementOptions& loaded) { return m_placement.asChanged(loaded); });
    connect(&models, &ModelController::modelReady, this, [this, &models](const engine::ModelInfo& model) {
        m_monitor.onModelReady(model);
        if (!models.current().server.isEmpty())
            return;  // a server's model: its memory and what holds it back are not known here
        m_placement.onModelReady(model, models.loadedRequest());
        m_doctor.onModelReady(model);
    });
    connectDoctor(models);
}

void Pressure::follow(ChatController& chat, TurnRunner& turns, ConversationStore& store)
{
    FlightRecorder& recorder = m_monitor.recorder();
    recorder.setStore(&store);
    m_messages = [&chat](int number) -> std::optional<PlacementEventModel::Message> {
        const StoredMessage* const message = chat.messageNumbered(number);
        if (!message)
            return {};
        return PlacementEventModel::Message{message->id, beginningOf(*message)};
    };
    connect(&chat, &ChatController::opened, &recorder, &FlightRecorder::show);
    connect(&turns, &TurnRunner::turnBegan, &recorder, &FlightRecorder::begin);
    connect(&turns, &TurnRunner::tokensPlaced, &recorder, &FlightRecorder::place);
    connect(&chat, &ChatController::opened, &m_doctor, &DoctorController::onConversation);
    connect(&turns, &TurnRunner::turnBegan, &m_doctor, &DoctorController::onTurn);
    m_doctor.onConversation(chat.conversationId());
    connect(&store, &ConversationStore::trashed, &recorder, &FlightRecorder::forget);
    recorder.show(chat.conversationId());
}

void Pressure::offerDevices(DeviceController* devices)
{
    m_devices = devices;
    connect(&m_doctor, &DoctorController::deviceRequested, devices, &DeviceController::use);
}

void Pressure::offerDrafts(CatalogueController& catalogue, const Setting& draft)
{
    m_doctor.setDrafts([&catalogue, &draft](const engine::LoadRequest& request) -> std::optional<ModelEntry> {
        if (draft.value() == SettingsController::NoDraft)
            return {};
        catalogue.begin();  // the catalogue may not have looked for models yet
        return catalogue.drafts()->suggested(request, catalogue.memoryNow());
    });
    connect(&m_doctor, &DoctorController::draftModelRequested, this,
            [this, &catalogue](const QString& model, const QString& file) {
                catalogue.drafts()->chooseFile(model, file);
                m_models.openAndLoad(model, m_models.current().name);
            });
}

/// Shows the moves of what is shown. For a file that was opened messages are named by their place only.
void Pressure::showMoves()
{
    const auto messages = m_monitor.replaying() ? PlacementEventModel::Messages() : m_messages;
    // The conversation's moves are shown also where another model made them.
    const Recording& shown = m_monitor.replaying() ? m_monitor.recording() : m_monitor.recorder().shown();
    m_events.reset(shown.moves, messages);
}

void Pressure::retranslate()
{
    m_doctor.retranslate();
    if (m_devices)
        m_devices->retranslate();
    Q_EMIT m_monitor.changed();
    showMoves();
}

void Pressure::connectDoctor(ModelController& models)
{
    connect(&m_doctor, &DoctorController::layersRequested, this, [this](int layers) {
        if (layers < 0)
            m_placement.setAutomatic();
        else
            m_placement.setLayers(layers);
    });
    connect(&m_doctor, &DoctorController::hostExpertsRequested, m_placement.experts(), &ExpertPlacement::setHostLayers);
    connect(&m_doctor, &DoctorController::roomForCopiesRequested, m_placement.experts(),
            &ExpertPlacement::setRoomForCopies);
    connect(&m_doctor, &DoctorController::policyRequested, &m_placement, &PlacementController::setPolicy);
    connect(&m_doctor, &DoctorController::kvTypeRequested, &m_placement, &PlacementController::keepKvAs);
    connect(&m_doctor, &DoctorController::budgetRequested, &m_placement, &PlacementController::setBudget);
    connect(&m_doctor, &DoctorController::growRequested, &m_placement, &PlacementController::growBack);
    connect(&m_doctor, &DoctorController::shrinkRequested, &m_placement, &PlacementController::yieldTo);
    connect(&m_placement, &PlacementController::changed, &m_doctor, [this] {
        if (!m_placement.yielding())
            m_doctor.onGrown();
    });
    connect(&m_doctor, &DoctorController::reloadRequested, &models, &ModelController::reloadWithContext);
}

void Pressure::setRates(const std::shared_ptr<const engine::MachineRates>& rates)
{
    m_placement.forecast()->setRates(rates);
    m_doctor.setRates(rates);
}

#include "moc_pressure.cpp"
