// FlightRecorder records what is measured of each conversation and keeps it with that conversation.
#pragma once

#include "app/pressure/recording.h"

#include <QObject>
#include <QString>

#include <functional>
#include <map>
#include <optional>
#include <vector>

class ConversationStore;

/// Puts the engine's frames and events into the recording of the conversation they are of, and keeps it in the store
/// with that conversation: when an answer ends, and when the conversation is left. A conversation that is opened again
/// goes on from its kept recording; a pool thread reads that, and what is measured meanwhile waits for it. Of turns
/// that run at the same time one is followed: that of the shown conversation, or if it has none, the one that was
/// followed before, as long as it runs. Lives on the UI thread; owned by PressureMonitor.
class FlightRecorder : public QObject
{
    Q_OBJECT

public:
    explicit FlightRecorder(QObject* parent = nullptr);
    ~FlightRecorder() override;

    /// Sets where recordings are kept; null, as at first: they are lost when the program ends.
    void setStore(ConversationStore* store);

    /// Returns the recording of the shown conversation. One that was begun before any conversation was shown ends with
    /// the model.
    const Recording& shown() const { return m_flights.at(m_shown).recording; }
    /// Returns what can be drawn beside the numbers of the open model: that recording, or until this model's first
    /// answer there what was measured of the model alone.
    const Recording& drawn() const { return shownIsOfAnotherModel() ? m_ofModel : shown(); }
    /// Says whether in the shown conversation another model than the open one answered last.
    bool shownIsOfAnotherModel() const { return m_modelOpen && !isOfOpenModel(shown()); }
    /// Says whether no answer of the shown conversation was ever computed, as far as is known.
    bool shownIsBlank() const { return !readsShown() && shown().history.runs().empty(); }
    /// Says whether the open model last computed another conversation than the shown one. Turns beside the followed one
    /// do not count.
    bool computesAnother() const { return !m_computed.isEmpty() && m_computed != m_shown; }
    /// Says whether the shown conversation's kept recording is still being read.
    bool readsShown() const { return m_flights.at(m_shown).reading != 0; }
    /// Says whether nothing of the shown conversation was measured since the model was loaded.
    bool shownIsEarlier() const;
    /// Returns the last move of one of these tokens or layers since the model was loaded, of the conversation that it
    /// computed last; null: there was none.
    const PlacementMove* lastMove(engine::TokenRange tokens, int firstLayer, int lastLayer) const;

    void show(const QString& conversation);
    /// Call it when a turn begins: its frames belong to this conversation.
    void begin(quint64 turn, const QString& conversation);
    /// Returns the turn that is followed, or was followed last; 0: none. A turn for which begin() was not called never
    /// counts as another one.
    quint64 followed() const { return m_turn; }
    bool followsAnother(quint64 turn) const { return turn != m_turn && runs(turn); }
    bool runs(quint64 turn) const { return m_running.count(turn) > 0; }
    /// Takes where a conversation's messages lie in the prompt, in the order of their tokens.
    void place(const QString& conversation, const QList<MessageTokens>& places);
    /// Call it when the conversation was thrown away.
    void forget(const QString& conversation);

    void add(quint64 turn, const engine::Telemetry& frame);  // turn 0: of none
    /// `conversations`: whose tokens moved; empty: nobody knows.
    void add(const engine::Event& event, const QStringList& conversations = {});
    void finish(quint64 turn, const engine::Telemetry& last);
    void fail(quint64 turn);
    void setSpillTokens(std::optional<int> tokens) { m_spillTokens = tokens; }
    void onModelReady(const QString& name, const QString& file);
    void onModelGone();

Q_SIGNALS:
    void shownChanged();                    // another recording is shown, or it was begun anew
    void followedChanged();                 // another turn is followed
    void computedForgotten(quint64 turn);   // what the model computed last, in this turn, was thrown away
    void moved(const PlacementMove& move);  // in the shown conversation
    void failed(const QString& sentence);

private:
    struct Flight {
        Recording recording;
        QList<MessageTokens> places = {};
        bool live = false;     // some of it was measured since the model was loaded
        bool changed = false;  // since it was kept
        quint64 reading = 0;   // the job that reads what was kept of it; 0: it is all here
        std::vector<std::function<void(Flight&)>> meanwhile = {};  // to be done when it was read
    };
    Flight& flightOf(const QString& conversation);
    Flight* flightOf(quint64 turn);
    void follow(quint64 turn);
    void followAnother();
    void end(quint64 turn);
    quint64 read(const QString& conversation, const QByteArray& kept);
    void onRead(const QString& conversation, quint64 job, std::optional<Recording>& recording);
    static void whenRead(Flight& flight, std::function<void(Flight&)> act);
    void takeModel(Recording& recording) const;
    bool isOfOpenModel(const Recording& recording) const;
    void note(Flight& flight, quint64 turn, const engine::Telemetry& frame);
    void take(Flight& flight, const PlacementMove& move);
    void keep(const QString& conversation);
    void leave(const QString& conversation);

    ConversationStore* m_store = nullptr;
    std::map<QString, Flight> m_flights;  // by conversation: those that are shown or computed
    quint64 m_jobs = 0;
    QString m_shown;
    QString m_computed;                    // conversation that the model computed last; empty: none since its load
    quint64 m_turn = 0;                    // the turn that is followed; 0: none was begun
    std::map<quint64, QString> m_running;  // the conversation of each running turn
    qint64 m_modelSinceMs = 0;
    QString m_model, m_modelFile;
    bool m_modelOpen = false;
    Recording m_ofModel;  // before its first answer
    std::optional<int> m_spillTokens;
};
