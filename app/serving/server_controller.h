// ServerController switches the local server, through which other programs use the model in the window, on and off.
#pragma once

#include "app/server/server.h"
#include "app/serving/program_model.h"
#include "app/serving/request_model.h"
#include "app/serving/server_key.h"
#include "app/settings/setting.h"

#include <QObject>
#include <QString>
#include <QTimer>
#include <QtQml/qqmlregistration.h>

#include <memory>
#include <thread>

/// The server is off at each start of the program. Switched on, it listens on 127.0.0.1 only, on a thread of its own;
/// switched off, there is no socket and no thread. Lives on the UI thread, which waits for the server only when the
/// program ends; owned by Program.
class ServerController : public QObject
{
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("made by the program")
    Q_PROPERTY(State state READ state NOTIFY stateChanged)
    Q_PROPERTY(bool on READ on WRITE setOn NOTIFY stateChanged)
    Q_PROPERTY(QString host READ host NOTIFY stateChanged)
    Q_PROPERTY(QString address READ address NOTIFY stateChanged)
    Q_PROPERTY(Setting* port READ port CONSTANT)
    Q_PROPERTY(Setting* asksKey READ asksKey CONSTANT)
    Q_PROPERTY(QString key READ key NOTIFY keyChanged)
    Q_PROPERTY(bool keyUseless READ keyUseless NOTIFY keyChanged)
    Q_PROPERTY(QString trouble READ trouble NOTIFY troubleChanged)
    Q_PROPERTY(QString model READ model NOTIFY modelChanged)
    Q_PROPERTY(bool elsewhere READ elsewhere NOTIFY modelChanged)
    Q_PROPERTY(ProgramModel* programs READ programs CONSTANT)
    Q_PROPERTY(bool answers READ answers NOTIFY trafficChanged)
    Q_PROPERTY(RequestModel* requests READ requests CONSTANT)

public:
    enum State { Off, Starting, On, Stopping };
    Q_ENUM(State)

    static constexpr int kTurns = 8;  // at the same time; the window's turn comes on top

    /// `shared` outlives this object. `keyFile`: where the key is kept; empty: nowhere.
    ServerController(server::SharedEngine& shared, Setting& port, Setting& asksKey, const QString& keyFile,
                     QObject* parent = nullptr);
    ~ServerController() override;

    State state() const { return m_state; }
    bool on() const { return m_wanted; }
    void setOn(bool on);
    QString host() const;     // "127.0.0.1:8080"
    QString address() const;  // for the clients' settings, "http://127.0.0.1:8080/v1"
    Setting* port() const { return &m_port; }
    Setting* asksKey() const { return &m_asksKey; }
    QString key() const { return m_key; }  // empty: the server was never switched on
    /// Says whether the key's file holds no usable key. It stays as it is, and the server off, until makeKey() is
    /// called.
    bool keyUseless() const { return m_keyUseless; }
    QString trouble() const { return m_trouble; }
    QString model() const { return m_model; }       // the open model's name for clients; empty: none that they may use
    bool elsewhere() const { return m_elsewhere; }  // the open model is a server's: clients have to ask that one
    ProgramModel* programs() { return &m_programs; }
    bool answers() const { return m_programs.anyAnswered(); }
    RequestModel* requests() { return &m_requests; }

    /// Sets the path of the model that the window has open; empty: none.
    void onModel(const QString& path);

    /// Replaces the key; programs with the old one are refused from then on.
    Q_INVOKABLE void makeKey();
    Q_INVOKABLE void copyAddress() const;
    Q_INVOKABLE void copyKey() const;
    Q_INVOKABLE void dismissTrouble() { setTrouble({}); }

Q_SIGNALS:
    void stateChanged();
    void keyChanged();
    void troubleChanged();
    void modelChanged();
    void trafficChanged();

private:
    class Running;
    void start();
    void restart();
    bool hasKey();
    void onOpened(quint64 run, const QString& url);
    void onEnded(quint64 run, const QString& failure, bool ofPort);
    void showTraffic();
    void setState(State state);
    void setTrouble(const QString& sentence);

    server::SharedEngine& m_shared;
    Setting& m_port;
    Setting& m_asksKey;
    ServerKey m_keyFile;
    QString m_key;
    bool m_keyUseless = false;
    State m_state = Off;
    bool m_wanted = false;
    bool m_again = false;  // the server ends only to start again, with another port or key
    QString m_host;        // where it listens; empty: nowhere
    QString m_trouble;
    QString m_model;
    bool m_elsewhere = false;
    ProgramModel m_programs;
    RequestModel m_requests;
    QTimer m_trafficSoon;
    std::shared_ptr<server::RequestLog> m_log;
    quint64 m_run = 0;
    std::stop_source m_stop;
    std::thread m_thread;
};
