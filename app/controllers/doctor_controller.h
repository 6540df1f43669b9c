// The Doctor at the page's service.
#pragma once

#include "app/monitor/doctor_facts.h"
#include "app/worker/engine_thread.h"

#include <QObject>
#include <QVariant>
#include <QtQml/qqmlregistration.h>

#include <functional>
#include <memory>

/// Looks at each answer when it has ended, on a pool thread, and says what holds it back. Lives on the UI thread; owned
/// by Program.
class DoctorController : public QObject
{
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("made by the program")
    Q_PROPERTY(QString sentence READ sentence NOTIFY changed)
    Q_PROPERTY(QString suggestion READ suggestion NOTIFY changed)
    Q_PROPERTY(bool canApply READ canApply NOTIFY changed)
    Q_PROPERTY(QVariant tokensPerSecond READ tokensPerSecond NOTIFY changed)
    Q_PROPERTY(QVariant predicted READ predicted NOTIFY changed)

public:
    /// `present`: the open model's request, with what has been changed of its placement since.
    DoctorController(EngineThread& engine, std::function<engine::LoadRequest()> present, QObject* parent = nullptr);

    QString sentence() const;          // empty: there was no answer yet
    QString suggestion() const;        // empty: nothing would help
    bool canApply() const;             // a button can do it; else it is advice
    QVariant tokensPerSecond() const;  // of that answer
    QVariant predicted() const;        // after it; undefined: not known
    const Diagnosis& diagnosis() const { return m_diagnosis; }

    /// Asks for what is suggested.
    Q_INVOKABLE void apply();

    void onModelReady(const engine::ModelInfo& model);
    void onModelGone();
    /// What predictions are computed from; null: nothing is predicted.
    void setRates(std::shared_ptr<const engine::MachineRates> rates) { m_rates = std::move(rates); }
    /// The language has changed.
    void retranslate() { Q_EMIT changed(); }

Q_SIGNALS:
    void changed();

    void layersRequested(int layers);  // -1: as many as fit
    void policyRequested(int policy);  // an engine::KvPolicy
    void kvTypeRequested(engine::KvType type);
    void budgetRequested(double bytes);
    void threadsRequested(int threads);
    void reloadRequested(int contextTokens);

private:
    void onFinished(const engine::Telemetry& last);
    void show(const Diagnosis& diagnosis);

    EngineThread& m_engine;
    std::function<engine::LoadRequest()> m_present;
    std::shared_ptr<const engine::MachineRates> m_rates;
    std::optional<engine::ModelInfo> m_model;
    std::vector<double> m_earlier;  // tokens/s of the conversation's answers
    quint64 m_job = 0;
    Diagnosis m_diagnosis;
};
