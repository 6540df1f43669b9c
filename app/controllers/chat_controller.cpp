#include "app/controllers/chat_controller.h"

#include <QClipboard>
#include <QGuiApplication>

#include <utility>

ChatController::ChatController(EngineThread& engine, engine::Request options, QObject* parent)
    : QObject(parent)
    , m_engine(engine)
    , m_options(std::move(options))
{
    const EngineWorker* worker = engine.worker();
    connect(worker, &EngineWorker::textReady, this, &ChatController::onText);
    connect(worker, &EngineWorker::telemetryReady, this, &ChatController::onTelemetry);
    connect(worker, &EngineWorker::finished, this, &ChatController::onFinished);
    connect(worker, &EngineWorker::failed, this, &ChatController::onFailed);
    connect(worker, &EngineWorker::eventHappened, this, &ChatController::onEvent);
}

ChatController::~ChatController()
{
    m_stop.request_stop();
}

QString ChatController::obstacle() const
{
    if (m_loading)
        return tr("The model is still loading.");
    if (!m_model)
        return tr("Open a model first.");
    if (m_state == Stopping)
        return tr("The answer is being stopped.");
    if (busy())
        return tr("The model is still answering.");
    return {};
}

bool ChatController::send(const QString& text)
{
    if (!canSend() || text.trimmed().isEmpty())
        return false;
    m_messages.appendUser(text);
    ask();
    return true;
}

void ChatController::stop()
{
    if (m_state != Reading && m_state != Answering)
        return;
    m_stop.request_stop();
    setState(Stopping);
}

void ChatController::retry()
{
    if (!canSend() || m_messages.lastUserText().isEmpty())
        return;
    m_messages.removeLast();
    ask();
}

void ChatController::newConversation()
{
    m_stop.request_stop();
    ++m_turn;  // what still arrives belongs to nobody
    m_messages.clear();
    m_engine.endConversation(QStringLiteral("the one"));
    m_telemetry.reset(m_model ? m_model->context_in_use : 0);
    setContextFull(false);
    setState(Ready);
}

void ChatController::copy(const QString& text)
{
    QGuiApplication::clipboard()->setText(text);
}

void ChatController::dismissWarnings()
{
    if (m_warnings.isEmpty())
        return;
    m_warnings.clear();
    Q_EMIT warningsChanged();
}

void ChatController::onLoadStarted()
{
    stop();
    m_loading = true;
    dismissWarnings();
    setModel({});
}

void ChatController::onModelReady(const engine::ModelInfo& model)
{
    m_loading = false;
    setModel(model);
}

void ChatController::onModelGone()
{
    m_loading = false;
    setModel({});
}

void ChatController::ask()
{
    const engine::Request asked = request();
    m_messages.beginAnswer();
    setContextFull(false);
    m_stop = std::stop_source();
    setState(Reading);
    m_engine.generate(++m_turn, QStringLiteral("the one"), asked, m_stop.get_token());
}

engine::Request ChatController::request() const
{
    engine::Request request = m_options;
    // A model without a chat template knows no messages: it goes on with the text it is given.
    if (continuesText())
        request.raw_prompt = m_messages.lastUserText().toStdString();
    else
        request.messages = m_messages.forEngine();
    return request;
}

void ChatController::onText(quint64 turn, const QString& text)
{
    if (turn != m_turn)
        return;
    m_messages.appendToAnswer(text);
    if (m_state == Reading)
        setState(Answering);
}

void ChatController::onTelemetry(quint64 turn, const engine::Telemetry& frame)
{
    if (turn == m_turn && m_model)  // without one, another is being loaded, and the meter is no longer this turn's
        m_telemetry.show(frame);
}

void ChatController::onFinished(quint64 turn, const engine::Turn& result)
{
    if (turn != m_turn)
        return;
    if (m_model)
        m_telemetry.show(result.telemetry);
    m_messages.finishAnswer(result);
    setContextFull(result.reason == engine::StopReason::ContextFull);
    setState(Ready);
}

void ChatController::onFailed(quint64 turn, const engine::Error& error)
{
    if (turn != m_turn)
        return;
    if (error.code == engine::Error::Code::Cancelled)
        m_messages.stopAnswer();
    else
        m_messages.failAnswer(asSentence(QString::fromStdString(error.what)));
    setContextFull(error.code == engine::Error::Code::ContextFull);
    setState(Ready);
    if (m_model && (error.code == engine::Error::Code::CannotRead || error.code == engine::Error::Code::NotLoaded)) {
        setModel({});
        Q_EMIT modelLost();
    }
}

void ChatController::onEvent(const engine::Event& event)
{
    using Kind = engine::Event::Kind;
    const bool worthALine = event.kind == Kind::Warning || event.kind == Kind::TurnsDropped ||
                            (event.kind == Kind::CommandDone && !event.ok);
    const QString sentence = asSentence(QString::fromStdString(event.sentence));
    if (!worthALine || sentence.isEmpty() || m_warnings.contains(sentence))
        return;
    m_warnings.append(sentence);
    Q_EMIT warningsChanged();
}

void ChatController::setState(State state)
{
    if (m_state == state)
        return;
    m_state = state;
    Q_EMIT stateChanged();
    Q_EMIT canSendChanged();
}

void ChatController::setContextFull(bool full)
{
    if (m_contextFull == full)
        return;
    m_contextFull = full;
    Q_EMIT contextFullChanged();
}

void ChatController::setModel(std::optional<engine::ModelInfo> model)
{
    m_model = std::move(model);
    m_telemetry.reset(m_model ? m_model->context_in_use : 0);
    setContextFull(false);
    Q_EMIT canSendChanged();
    Q_EMIT continuesTextChanged();
}
