// ExperimentDraft holds the plan that the user is making on the page, and says why it cannot be measured yet.
#pragma once

#include "app/experiments/experiment.h"
#include "engine/engine.h"

#include <QObject>
#include <QStringList>
#include <QtQml/qqmlregistration.h>

/// A model that may be measured, for the page.
class ExperimentChoice
{
    Q_GADGET
    QML_VALUE_TYPE(experimentChoice)
    Q_PROPERTY(QString title MEMBER title CONSTANT)
    Q_PROPERTY(QString detail MEMBER detail CONSTANT)
    Q_PROPERTY(bool chosen MEMBER chosen CONSTANT)

public:
    QString title;
    QString detail;
    bool chosen = false;
};
Q_DECLARE_METATYPE(ExperimentChoice)

/// Holds what is chosen, and says why it cannot be measured yet. Lives on the UI thread; owned by
/// ExperimentsController.
class ExperimentDraft : public QObject
{
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("made by the program")
    Q_PROPERTY(QList<ExperimentChoice> models READ models NOTIFY modelsChanged)
    Q_PROPERTY(QStringList shapes READ shapes CONSTANT)
    Q_PROPERTY(QStringList quantisations READ quantisations CONSTANT)
    Q_PROPERTY(QList<int> contexts READ contexts NOTIFY changed)
    Q_PROPERTY(QList<int> chosenContexts READ chosenContexts NOTIFY changed)
    Q_PROPERTY(QStringList strategies READ strategies NOTIFY changed)
    Q_PROPERTY(QList<int> chosenStrategies READ chosenStrategies NOTIFY changed)
    Q_PROPERTY(bool hasExperts READ hasExperts NOTIFY changed)
    Q_PROPERTY(QList<bool> expertsInRam READ expertsInRam NOTIFY changed)
    Q_PROPERTY(QStringList expertCopies READ expertCopies NOTIFY changed)
    Q_PROPERTY(QStringList chosenExpertCopies READ chosenExpertCopies NOTIFY changed)
    Q_PROPERTY(QStringList devices READ devices NOTIFY devicesChanged)
    Q_PROPERTY(int device READ device WRITE setDevice NOTIFY changed)
    Q_PROPERTY(bool emulated READ emulated NOTIFY changed)
    Q_PROPERTY(QString memory READ memory WRITE setMemory NOTIFY changed)
    Q_PROPERTY(bool memoryIsSound READ memoryIsSound NOTIFY changed)
    Q_PROPERTY(int repeats READ repeats WRITE setRepeats NOTIFY changed)
    Q_PROPERTY(int answerTokens READ answerTokens WRITE setAnswerTokens NOTIFY changed)
    Q_PROPERTY(int rowMinutes READ rowMinutes WRITE setRowMinutes NOTIFY changed)
    Q_PROPERTY(int rows READ rows NOTIFY changed)
    Q_PROPERTY(QString obstacle READ obstacle NOTIFY changed)

public:
    /// `placement` is the chat's: its device and memory are chosen at first.
    explicit ExperimentDraft(const engine::PlacementOptions& placement, QObject* parent = nullptr);

    QList<ExperimentChoice> models() const;
    QStringList shapes() const;
    QStringList quantisations() const;
    QList<int> contexts() const;  // that are offered: the usual ones and the user's own
    QList<int> chosenContexts() const { return m_plan.contexts; }
    QStringList strategies() const;  // all, by name
    QList<int> chosenStrategies() const;
    bool hasExperts() const { return plan().hasExperts(); }  // any of the chosen models has
    QList<bool> expertsInRam() const { return m_plan.expertsInRam; }
    /// Returns the sizes of the memory for copies of experts that are offered: none, what pays, and the user's own.
    QStringList expertCopies() const;
    QStringList chosenExpertCopies() const { return m_plan.expertCopies; }
    QStringList devices() const { return m_deviceNames; }
    int device() const { return m_device; }  // its place among them
    void setDevice(int device);
    bool emulated() const { return m_deviceIds.value(m_device) == QLatin1String("emulated"); }
    QString memory() const { return m_plan.memory; }
    void setMemory(const QString& memory);
    bool memoryIsSound() const;
    int repeats() const { return m_plan.repeats; }
    void setRepeats(int repeats);
    int answerTokens() const { return m_plan.answerTokens; }
    void setAnswerTokens(int tokens);
    int rowMinutes() const { return m_plan.rowMinutes; }
    void setRowMinutes(int minutes);
    int rows() const { return int(plan().cells().size()); }
    QString obstacle() const;  // empty: it can be measured

    Q_INVOKABLE void toggleModel(int index);
    Q_INVOKABLE void toggleContext(int tokens);
    /// Adds contexts such as "512, 3000 12K" to those that are offered, and chooses them. Returns one sentence if one
    /// of them cannot be, and then adds none; empty: all were added.
    Q_INVOKABLE QString addContexts(const QString& text);
    Q_INVOKABLE void toggleStrategy(int strategy);
    Q_INVOKABLE void toggleExpertsInRam(bool inRam);
    Q_INVOKABLE void toggleExpertCopies(const QString& copies);
    /// Does the same for sizes of the memory for copies of experts, such as "512MiB, 2GiB".
    Q_INVOKABLE QString addExpertCopies(const QString& text);
    /// Adds a shape by its places in the lists; it is chosen at once.
    Q_INVOKABLE void addShape(int shape, int quantisation);

    struct Candidate {
        ExperimentModel model;
        QString detail;
    };
    /// Sets the files that are offered. Chosen ones stay chosen; if none was, the first one is.
    void setCandidates(const QList<Candidate>& files);
    /// Adds a GPU to the devices that are offered.
    void addDevice(const QString& id, const QString& name);

    /// Returns the plan as it is chosen now, without the threads and the KV type, which come from the settings.
    ExperimentPlan plan() const;

Q_SIGNALS:
    void changed();
    void modelsChanged();
    void devicesChanged();

private:
    template <class T>
    void set(T& value, T wanted);

    ExperimentPlan m_plan;  // but for its models
    QList<int> m_ownContexts;
    QStringList m_ownCopies;
    QList<Candidate> m_files, m_shapes;
    QStringList m_chosen;  // keys
    QStringList m_deviceIds, m_deviceNames;
    int m_device = 0;
};
