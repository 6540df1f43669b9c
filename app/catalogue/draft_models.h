// DraftModels says which small models may guess for a large one, and which the user has chosen.
#pragma once

#include "app/catalogue/draft_choices.h"
#include "app/catalogue/model_list_model.h"
#include "engine/memory_plan.h"

#include <QHash>
#include <QObject>
#include <QStringList>
#include <QtQml/qqmlregistration.h>

#include <filesystem>
#include <functional>
#include <optional>

class ModelController;

/// Finds the listed models that are much smaller than a model and have its vocabulary. The vocabularies are compared on
/// a pool thread when the page shows the model, and the result is remembered. Lives on the UI thread; owned by
/// CatalogueController.
class DraftModels : public QObject
{
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("made by the program")
    Q_PROPERTY(int changes READ changes NOTIFY changed)

public:
    /// Says whether the second may guess for the first: engine::may_draft, or a fake one. Called on a pool thread.
    using MayDraft = std::function<bool(const std::filesystem::path& model, const std::filesystem::path& draft)>;

    DraftModels(ModelListModel& models, ModelController& opener, MayDraft mayDraft, const QString& choicesFile,
                QObject* parent = nullptr);
    ~DraftModels() override;

    int changes() const { return m_changes; }  // how often changed() came: bindings read it, so that they ask again

    /// Finds out which of the listed models may guess for this one; offers() has them when changed() comes.
    Q_INVOKABLE void look(const QString& id);
    /// Returns the titles of the models that may guess for this one, as far as is known, and of the chosen one.
    Q_INVOKABLE QStringList offers(const QString& id) const;
    /// Returns the place of the chosen model in offers(); -1: none is chosen.
    Q_INVOKABLE int chosen(const QString& id) const;
    /// Chooses a model by its place in offers(); -1: none.
    Q_INVOKABLE void choose(const QString& id, int offer);
    /// Says whether the open model was opened with another choice than the present one.
    Q_INVOKABLE bool opensOtherwise() const;

    /// Returns the smallest model that may guess for the model of the request and fits into memory beside it. Nothing:
    /// there is none, one is chosen already, or it is not known yet which may; then a later call returns it.
    std::optional<ModelEntry> suggested(const engine::LoadRequest& request, const engine::MachineMemory& memory);
    /// Does the same as choose(), by the paths of both; an empty one: none.
    void chooseFile(const QString& path, const QString& draft);
    /// Returns the path of the model that is chosen to guess for this one; empty: none is.
    QString draftOf(const QString& path) const { return m_choices.of(path); }

Q_SIGNALS:
    void changed();
    void chose();  // a choice was made: what memory the model needs has changed

private:
    QList<ModelEntry> candidates(const ModelEntry& entry) const;
    QList<ModelEntry> offered(const ModelEntry& entry) const;
    const ModelEntry* entryOf(const QString& path) const;
    void noteChange();

    ModelListModel& m_models;
    ModelController& m_opener;
    MayDraft m_mayDraft;
    DraftChoices m_choices;
    QHash<QString, bool> m_may;  // by the ids of both; false also until it is known
    int m_changes = 0;
};
