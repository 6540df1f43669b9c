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

/// Finds, among the listed models, those that are much smaller than a model and have its vocabulary; the last is found
/// out on a pool thread, when somebody looks at the model, and remembered. Lives on the UI thread; owned by
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

    int changes() const { return m_changes; }  // counts them, so that bindings ask again

    /// Looks which of the listed models may guess for this one; offers() knows when changed() comes.
    Q_INVOKABLE void look(const QString& id);
    /// The titles of those that may, as far as is known, and of the one that is chosen.
    Q_INVOKABLE QStringList offers(const QString& id) const;
    /// The one that is chosen, as a place in offers(); -1: none is.
    Q_INVOKABLE int chosen(const QString& id) const;
    /// One of offers(), or -1: none.
    Q_INVOKABLE void choose(const QString& id, int offer);
    /// Says whether the open model was opened with another choice than the present one.
    Q_INVOKABLE bool opensOtherwise() const;

    /// The smallest that may guess for the model of the request and finds room beside it. Empty: there is none, one is
    /// chosen already, or which may is not known yet; a later call knows.
    std::optional<ModelEntry> suggested(const engine::LoadRequest& request, const engine::MachineMemory& memory);
    /// Does the same as choose(), by the paths of both; an empty one: none.
    void chooseFile(const QString& path, const QString& draft);
    /// The path of the file that is to guess for this one; empty: none is.
    QString draftOf(const QString& path) const { return m_choices.of(path); }

Q_SIGNALS:
    void changed();
    void chose();  // and the memory that the models need is another one

private:
    QList<ModelEntry> candidates(const ModelEntry& entry) const;
    QList<ModelEntry> offered(const ModelEntry& entry) const;
    const ModelEntry* entryOf(const QString& path) const;
    void noteChange();

    ModelListModel& m_models;
    ModelController& m_opener;
    MayDraft m_mayDraft;
    DraftChoices m_choices;
    QHash<QString, bool> m_may;  // by the ids of both, once it was asked
    int m_changes = 0;
};
