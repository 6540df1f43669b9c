#include "app/serving/server_controller.h"

#include "app/system/log_lines.h"
#include "app/system/remote_path.h"
#include "app/text/visible_text.h"
#include "engine/caught.h"

#include <QClipboard>
#include <QGuiApplication>

#include <filesystem>
#include <system_error>

namespace {

constexpr int kTrafficMs = 250;  // busy clients must not flood the window
constexpr const char* kLoopback = "127.0.0.1";

}  // namespace

ServerController::ServerController(server::SharedEngine& shared, Setting& port, Setting& asksKey,
                                   const QString& keyFile, QObject* parent)
    : QObject(parent)
    , m_shared(shared)
    , m_port(port)
    , m_asksKey(asksKey)
    , m_keyFile(keyFile)
    , m_key(m_keyFile.read().key)
    , m_log(std::make_shared<server::RequestLog>([this] {
        QMetaObject::invokeMethod(
            this,
            [this] {
                if (!m_trafficSoon.isActive())
                    m_trafficSoon.start();
            },
            Qt::QueuedConnection);
    }))
{
    m_trafficSoon.setSingleShot(true);
    m_trafficSoon.setInterval(kTrafficMs);
    connect(&m_trafficSoon, &QTimer::timeout, this, &ServerController::showTraffic);
    connect(&m_port, &Setting::changed, this, &ServerController::restart);
    connect(&m_asksKey, &Setting::changed, this, &ServerController::restart);
}

/// Stops the server and waits for it, and so for a step of the engine that runs.
ServerController::~ServerController()
{
    m_stop.request_stop();
    if (m_thread.joinable())
        m_thread.join();
}

QString ServerController::host() const
{
    return m_host.isEmpty() ? QStringLiteral("%1:%2").arg(QLatin1String(kLoopback)).arg(m_port.value()) : m_host;
}

QString ServerController::address() const
{
    return QStringLiteral("http://%1/v1").arg(host());
}

void ServerController::setOn(bool on)
{
    if (m_wanted == on)
        return;
    if (on) {
        setTrouble({});
        if (!hasKey()) {
            Q_EMIT stateChanged();  // the switch shows again that the server is off
            return;
        }
    }
    m_wanted = on;
    m_again = false;
    if (on && m_state == Off)
        start();
    else if (!on && (m_state == Starting || m_state == On)) {
        m_stop.request_stop();
        setState(Stopping);
    } else {
        m_again = on;  // a server that is ending ends first
        Q_EMIT stateChanged();
    }
}

/// Reads the key, or makes the first one. False: the file has no usable key. That file is not replaced unasked, since
/// other programs may use its key.
bool ServerController::hasKey()
{
    if (!m_key.isEmpty())
        return true;
    const ServerKey::Kept kept = m_keyFile.read();
    m_key = kept.key;
    m_keyUseless = kept.useless;
    if (m_key.isEmpty() && !m_keyUseless) {
        makeKey();
        return true;
    }
    Q_EMIT keyChanged();
    if (m_keyUseless)
        setTrouble(tr("What is kept as the key cannot be read or is none. Mend the file “%1”, or make a new key.")
                       .arg(VisibleText::of(m_keyFile.path())));
    return !m_keyUseless;
}

/// Starts the server again, where it runs, with another port or key.
void ServerController::restart()
{
    Q_EMIT stateChanged();  // the address may be another one
    if (m_state != Starting && m_state != On)
        return;
    m_again = true;
    m_stop.request_stop();
    setState(Stopping);
}

void ServerController::start()
{
    server::ServerOptions options;
    options.http.host = kLoopback;
    options.http.port = m_port.value();
    if (m_asksKey.value() != 0)
        options.door.keys = {m_key.toStdString()};
    options.desk.turns = kTurns;
    options.grace = {};  // a user who switches the server off does not want to wait
    options.log = m_log;
    m_stop = {};
    const auto run = ++m_run;
    const auto end = [this, run](const QString& failure, bool ofPort) {
        QMetaObject::invokeMethod(
            this, [this, run, failure, ofPort] { onEnded(run, failure, ofPort); }, Qt::QueuedConnection);
    };
    setState(Starting);
    try {
        m_thread = std::thread([this, run, end, options, stop = m_stop.get_token()] {
            QString failure;
            bool ofPort = false;
            try {
                server::Server server(m_shared, options);
                if (const auto opened = server.open(); !opened) {
                    failure = QString::fromStdString(opened.error().what);
                    ofPort = opened.error().code == engine::Error::Code::BadRequest;
                } else {
                    const QString url = QString::fromStdString(server.url());
                    QMetaObject::invokeMethod(
                        this, [this, run, url] { onOpened(run, url); }, Qt::QueuedConnection);
                    const std::stop_callback stops(stop, [&server] { server.stop(); });
                    server.run();
                }
            } catch (...) {
                failure = QString::fromStdString(engine::caught("for the server").value().what);
            }
            end(failure, ofPort);
        });
    } catch (const std::system_error&) {
        end(QStringLiteral("the system gives no more threads"), false);
    }
}

void ServerController::onOpened(quint64 run, const QString& url)
{
    if (run != m_run || m_state != Starting)
        return;
    m_host = hostOf(url);
    logInfo(QStringLiteral("server: other programs are answered at ") + m_host);
    setState(On);
}

/// Called when the server has ended: its socket is closed, and its turns are over.
void ServerController::onEnded(quint64 run, const QString& failure, bool ofPort)
{
    if (run != m_run)
        return;
    if (m_thread.joinable())
        m_thread.join();
    m_host.clear();
    const bool again = std::exchange(m_again, false) && m_wanted;
    if (!again)
        m_wanted = false;
    if (!failure.isEmpty())
        setTrouble(ofPort ? tr("Port %1 cannot be used (%2).").arg(m_port.value()).arg(VisibleText::of(failure))
                          : tr("The local server cannot go on (%1).").arg(VisibleText::of(failure)));
    showTraffic();
    if (again)
        return start();
    logInfo(QStringLiteral("server: off"));
    setState(Off);
}

void ServerController::showTraffic()
{
    m_programs.show(m_log->clients());
    m_requests.show(m_log->requests());
    Q_EMIT trafficChanged();
}

void ServerController::onModel(const QString& path)
{
    const std::filesystem::path file(path.toStdU16String());
    m_elsewhere = isElsewhere(path);
    m_model.clear();
    if (!path.isEmpty() && !m_elsewhere)
        m_model = VisibleText::of(QString::fromStdString(server::client_name(file)));
    Q_EMIT modelChanged();
}

void ServerController::makeKey()
{
    m_key = m_keyFile.make();
    if (std::exchange(m_keyUseless, false))
        setTrouble({});
    if (!m_keyFile.write(m_key))
        setTrouble(tr("The key cannot be kept: it holds until Spillway is closed."));
    Q_EMIT keyChanged();
    if (m_asksKey.value() != 0)
        restart();
}

void ServerController::copyAddress() const
{
    QGuiApplication::clipboard()->setText(address());
}

void ServerController::copyKey() const
{
    QGuiApplication::clipboard()->setText(m_key);
}

void ServerController::setState(State state)
{
    m_state = state;
    Q_EMIT stateChanged();
}

void ServerController::setTrouble(const QString& sentence)
{
    if (m_trouble == sentence)
        return;
    m_trouble = sentence;
    if (!sentence.isEmpty())
        logWarning(QStringLiteral("server: ") + sentence);
    Q_EMIT troubleChanged();
}

#include "moc_server_controller.cpp"
