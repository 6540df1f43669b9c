// DoctorController has each answer diagnosed and shows the result to the page.
#pragma once

#include "app/pressure/core_watch.h"
#include "app/pressure/doctor_facts.h"
#include "app/worker/engine_thread.h"

#include <QHash>
#include <QList>
#include <QObject>
#include <QVariant>
#include <QtQml/qqmlregistration.h>

#include <filesystem>
#include <functional>
#include <memory>

/// Examines each answer of the shown conversation when it has ended, on a pool thread, and says what holds it back;
/// after a change that was applied here, also what the change brought. An answer that ran beside others, or that had
/// begun before the change, is not examined. Lives on the UI thread; owned by Program.
class DoctorController : public QObject
{
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("made by the program")
    Q_PROPERTY(QString sentence READ sentence NOTIFY changed)
    Q_PROPERTY(QString shares READ shares NOTIFY changed)
    Q_PROPERTY(QString suggestion READ suggestion NOTIFY changed)
    Q_PROPERTY(QString scope READ scope NOTIFY changed)
    Q_PROPERTY(QString result READ result NOTIFY changed)
    Q_PROPERTY(bool canUndo READ canUndo NOTIFY changed)
    Q_PROPERTY(bool canApply READ canApply NOTIFY changed)
    Q_PROPERTY(QVariant tokensPerSecond READ tokensPerSecond NOTIFY changed)
    Q_PROPERTY(QVariant predicted READ predicted NOTIFY changed)
    Q_PROPERTY(QVariant predictedAtMost READ predictedAtMost NOTIFY changed)
    Q_PROPERTY(bool changesSpeed READ changesSpeed NOTIFY changed)

public:
    /// Says how the open model is placed.
    struct Present {
        engine::LoadRequest request = {};         // with what has been changed of its placement since
        std::optional<qint64> budgetBefore = {};  // before another program needed the device; empty: not shrunk
        std::optional<DoctorGpu> unusedGpu = {};
    };
    /// Finds a model on this computer that could guess tokens for the one that this request has loaded. Empty: there is
    /// none, or guessing is switched off.
    using Drafts = std::function<std::optional<ModelEntry>(const engine::LoadRequest&)>;
    DoctorController(EngineThread& engine, std::function<Present()> present, QObject* parent = nullptr);

    QString sentence() const;  // empty: there was no answer yet
    QString shares() const;    // where the time of that answer went
    QString scope() const;     // for which models and how long the suggestion counts
    QString result() const;    // speed before and after the applied change; empty: there was none
    bool canUndo() const { return m_change && m_change->undo.kind != DoctorAction::Kind::None; }
    QString suggestion() const;        // empty: nothing would help
    bool canApply() const;             // a button can do it; else it is advice
    QVariant tokensPerSecond() const;  // of the answer that was examined last
    QVariant predicted() const;        // after the suggested change; undefined: not known
    QVariant predictedAtMost() const;  // undefined: predicted() is the only number
    bool changesSpeed() const { return ::changesSpeed(m_diagnosis); }
    const Diagnosis& diagnosis() const { return m_diagnosis; }

    /// Carries out the suggested change.
    Q_INVOKABLE void apply();
    /// Restores what was set before apply().
    Q_INVOKABLE void undo();

    void onModelReady(const engine::ModelInfo& model);
    void onModelGone();
    /// Call it when the budget that was shrunk for another program has grown back: that is not suggested any more.
    void onGrown();
    /// Sets the conversation that is shown; answers of others are not examined.
    void onConversation(const QString& conversation);
    void onTurn(quint64 turn, const QString& conversation) { m_turns.insert(turn, conversation); }
    /// Sets what predictions are computed from; null: nothing is predicted.
    void setRates(std::shared_ptr<const engine::MachineRates> rates) { m_rates = std::move(rates); }
    void setDrafts(Drafts drafts) { m_drafts = std::move(drafts); }
    /// Call it when the language has changed.
    void retranslate() { Q_EMIT changed(); }

Q_SIGNALS:
    void changed();

    void layersRequested(int layers);       // -1: as many as fit
    void hostExpertsRequested(int layers);  // -1: as many as KV drives out
    void roomForCopiesRequested(double bytes);
    void policyRequested(int policy);  // an engine::KvPolicy
    void kvTypeRequested(engine::KvType type);
    void budgetRequested(double bytes);
    void threadsRequested(int threads);
    void reloadRequested(int contextTokens);
    void draftModelRequested(const QString& model, const QString& file);  // empty: none
    void deviceRequested(const QString& id);
    void growRequested();
    void shrinkRequested(double bytes);  // for another program

private:
    /// Holds the change that was applied, and the speeds before and after it.
    struct Change {
        std::filesystem::path model;
        DoctorAction action;
        DoctorAction undo;                              // kind None: no action leads back
        std::optional<double> before = {}, after = {};  // tokens/s
    };
    /// Holds what an answer's tokens waited for; empty: not known.
    struct Waited {
        std::optional<double> coresS;
        std::optional<std::int64_t> diskBytes;
    };
    void onFinished(quint64 turn, const engine::Telemetry& last, const Waited& waited, bool alone);
    void show(const Diagnosis& diagnosis);
    void withdrawSuggestion();
    void ask(const DoctorAction& action, const std::filesystem::path& model);
    DoctorAction opposite(const DoctorAction& action) const;
    std::optional<DoctorDraft> draftFor(const engine::LoadRequest& request, const engine::Telemetry& last) const;
    void judgeChange(const engine::Telemetry& last);
    void countReads(const engine::Telemetry& last, DoctorFacts& facts);
    void countBetween(const engine::Telemetry& frame);

    EngineThread& m_engine;
    std::function<Present()> m_present;
    Drafts m_drafts = [](const auto&) { return std::nullopt; };
    std::shared_ptr<CoreWatch> m_watch = std::make_shared<CoreWatch>();  // the engine's thread uses it
    std::shared_ptr<const engine::MachineRates> m_rates;
    std::optional<engine::ModelInfo> m_model;
    /// Counts since the model was loaded, before the answer.
    qint64 m_expertHits = 0, m_expertMisses = 0, m_copiedBytes = 0;
    std::vector<double> m_earlier;         // tokens/s of the conversation's answers
    QString m_shown;                       // conversation
    std::filesystem::path m_draftsFailed;  // the model for which guesses cost more here than they brought
    std::optional<double> m_answered;      // tokens/s of the last answer, with what drafts brought
    QHash<quint64, QString> m_turns;       // whose they are, until they end
    QList<quint64> m_begunBefore;          // those of them that had begun before a change was applied
    std::optional<int> m_threads;          // as the Doctor chose them
    std::optional<Change> m_change;
    quint64 m_job = 0;
    Diagnosis m_diagnosis;
};
