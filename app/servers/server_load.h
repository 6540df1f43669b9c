// ServerLoad shows how busy the server is that answers the shown conversation, as the server itself measures it.
#pragma once

#include "app/fetching/request_thread.h"
#include "app/servers/remote_door.h"
#include "app/servers/server_cause.h"

#include <QElapsedTimer>
#include <QHash>
#include <QList>
#include <QObject>
#include <QTimer>
#include <QVariant>
#include <QtQml/qqmlregistration.h>

#include <memory>
#include <optional>

/// Holds the times in ms below which half of a server's times stay, and 99 of 100, as a value for the pages. Undefined:
/// not known.
class LatencyShares
{
    Q_GADGET
    QML_VALUE_TYPE(latencyShares)
    Q_PROPERTY(QVariant halfMs MEMBER halfMs CONSTANT)
    Q_PROPERTY(QVariant mostMs MEMBER mostMs CONSTANT)
    Q_PROPERTY(bool halfIsMore MEMBER halfIsMore CONSTANT)
    Q_PROPERTY(bool mostIsMore MEMBER mostIsMore CONSTANT)

public:
    LatencyShares() = default;
    explicit LatencyShares(const remote::LatencyHistogram& times);

    QVariant halfMs, mostMs;
    bool halfIsMore = false, mostIsMore = false;  // the time is longer than the number, the server's last bound
};
Q_DECLARE_METATYPE(LatencyShares)

/// Asks once a second while its numbers are shown and the open model is a server's. A number that the server does not
/// send is undefined. Lives on the UI thread; owned by Program.
class ServerLoad : public QObject
{
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("made by the program")
    Q_PROPERTY(bool shown READ shown WRITE setShown NOTIFY shownChanged)
    Q_PROPERTY(QString server READ server NOTIFY changed)
    Q_PROPERTY(bool measured READ measured NOTIFY changed)
    Q_PROPERTY(QString trouble READ trouble NOTIFY changed)
    Q_PROPERTY(QVariant kvPercent READ kvPercent NOTIFY changed)
    Q_PROPERTY(QVariant kvTokens READ kvTokens NOTIFY changed)
    Q_PROPERTY(QVariant kvBytes READ kvBytes NOTIFY changed)
    Q_PROPERTY(QVariant running READ running NOTIFY changed)
    Q_PROPERTY(QVariant waiting READ waiting NOTIFY changed)
    Q_PROPERTY(QVariant preemptions READ preemptions NOTIFY changed)
    Q_PROPERTY(QVariant tokensPerSecond READ tokensPerSecond NOTIFY changed)
    Q_PROPERTY(QVariant hitPercent READ hitPercent NOTIFY changed)
    Q_PROPERTY(QVariant offloadedPerSecond READ offloadedPerSecond NOTIFY changed)
    Q_PROPERTY(QVariant fetchedPerSecond READ fetchedPerSecond NOTIFY changed)
    Q_PROPERTY(LatencyShares firstToken READ firstToken NOTIFY changed)
    Q_PROPERTY(LatencyShares tokenGap READ tokenGap NOTIFY changed)
    Q_PROPERTY(QList<double> kvHistory READ kvHistory NOTIFY changed)
    Q_PROPERTY(QList<double> runningHistory READ runningHistory NOTIFY changed)
    Q_PROPERTY(QList<double> waitingHistory READ waitingHistory NOTIFY changed)
    Q_PROPERTY(QList<double> speedHistory READ speedHistory NOTIFY changed)
    Q_PROPERTY(int restarts READ restarts NOTIFY changed)
    Q_PROPERTY(QString cause READ cause NOTIFY changed)

public:
    static constexpr qsizetype kMostReadings = 120;

    explicit ServerLoad(std::shared_ptr<RemoteDoor> door, int interval_ms = 1000, QObject* parent = nullptr);

    bool shown() const { return m_shown; }
    void setShown(bool shown);
    /// Sets the open model by its path; `server`: empty where the model runs here.
    void onModel(const QString& path, const QString& server);
    /// Sets the shown conversation: another server of the same name may answer it.
    void onConversation(const QString& conversation);
    void onTurn(quint64 turn, const QString& conversation);
    /// Takes the number by which the engine knows the turn's conversation from its frame.
    void onFrame(quint64 turn, const engine::Telemetry& frame);
    /// Call it when a turn's answer has ended; empty: the time to its first token is not known.
    void onAnswer(quint64 turn, std::optional<double> firstTokenMs);
    /// Call it when a turn has failed: it has no answer.
    void onFailed(quint64 turn) { m_turns.remove(turn); }

    QString server() const;  // its name, and the host of the one with that name that answers now
    bool measured() const { return m_last.has_value(); }
    QString trouble() const { return m_trouble; }  // why there are no numbers, one sentence
    QVariant kvPercent() const;                    // used part of the server's KV cache
    QVariant kvTokens() const;
    QVariant kvBytes() const;
    QVariant running() const;  // requests
    QVariant waiting() const;
    QVariant preemptions() const;         // since the panel began to ask
    QVariant tokensPerSecond() const;     // of all its clients
    QVariant hitPercent() const;          // part of the prompts' tokens found in its KV, since then
    QVariant offloadedPerSecond() const;  // bytes
    QVariant fetchedPerSecond() const;
    // Times of the requests since the panel began to ask.
    LatencyShares firstToken() const { return LatencyShares(m_firstToken); }
    LatencyShares tokenGap() const { return LatencyShares(m_tokenGap); }
    // These return the newest readings, the oldest first, with a gap where there was none.
    QList<double> kvHistory() const { return m_kv; }
    QList<double> runningHistory() const { return m_running; }
    QList<double> waitingHistory() const { return m_waiting; }
    QList<double> speedHistory() const { return m_speed; }
    int restarts() const { return m_restarts; }                     // of the server, since the panel began to ask
    QString cause() const { return serverCauseSentence(facts()); }  // what holds its answers back; empty: nothing
    ServerFacts facts() const;

Q_SIGNALS:
    void shownChanged();
    void changed();

private:
    void follow();
    void ask();
    void askAnew();
    void onNumbers(const net::Result<remote::ServerNumbers>& numbers);
    void forget();

    std::shared_ptr<RemoteDoor> m_door;
    const int m_interval_ms;
    QTimer m_timer;
    RequestThread m_thread;
    bool m_shown = false;
    bool m_asking = false;
    QString m_path, m_server, m_trouble;
    std::optional<remote::ServerNumbers> m_last;
    QElapsedTimer m_sinceLast;
    remote::CounterChange m_perSecond;  // rates in the newest interval
    // llama-server counts an answer's tokens when it ends: until then the speed is not known, and the time in which the
    // tokens came is not known after it either. True while the counter stands though requests run.
    bool m_speedStood = false;
    std::optional<double> m_preemptions, m_hits, m_looked;
    remote::LatencyHistogram m_firstToken, m_tokenGap;
    QList<double> m_kv, m_running, m_waiting, m_speed, m_pushedOut;
    struct Conversation {
        engine::SequenceId sequence = 0;          // 0: it has had no turn since the model was opened
        std::optional<double> firstTokenMs = {};  // of its newest answer
    };
    QHash<QString, Conversation> m_conversations;  // with the open model
    QHash<quint64, QString> m_turns;               // conversation of each turn
    QString m_conversation;                        // that is shown
    int m_restarts = 0;
};
