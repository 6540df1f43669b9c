// ModelRemover deletes a model from the disk when the user has confirmed it.
#pragma once

#include "app/catalogue/model_controller.h"
#include "app/catalogue/model_list_model.h"
#include "app/catalogue/model_removal.h"

#include <QObject>
#include <QtQml/qqmlregistration.h>

#include <functional>

/// Plans what would be deleted, has the user asked, and deletes it; a pool thread works with the disk. Refuses a model
/// that is open, is being opened or is in use elsewhere in the program, also if it came into use after the question.
/// Lives on the UI thread; owned by CatalogueController.
class ModelRemover : public QObject
{
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("made by the catalogue")
    Q_PROPERTY(bool busy READ busy NOTIFY busyChanged)

public:
    /// Returns why these files have to stay for now, one sentence; empty: nothing needs them.
    using InUse = std::function<QString(const QStringList& files)>;

    /// `folders` returns the folders in which links to a model may lie.
    ModelRemover(const ModelListModel& models, const ModelController& opener, std::function<QStringList()> folders,
                 QObject* parent = nullptr);

    bool busy() const { return m_busy; }
    void setInUse(InUse inUse) { m_inUse = std::move(inUse); }

    /// Plans to delete a row's model, as the user wants: question() comes, or refused().
    Q_INVOKABLE void ask(const QString& id);
    /// Deletes what the last question was about, since the user agrees.
    Q_INVOKABLE void confirm();

Q_SIGNALS:
    void busyChanged();
    void question(const ModelRemoval& removal);
    void refused(const QString& sentence);
    /// All of it is deleted or, where refused() came just before, some or nothing. `gone`: the model's file is gone.
    void removed(const ModelRemoval& removal, bool gone);

private:
    QString whyNot(const ModelRemoval& removal) const;
    void onPlanned(const ModelRemoval& removal, bool open);
    void onRemoved(const ModelRemoval& removal, const QString& trouble, bool gone);
    void setBusy(bool busy);

    const ModelListModel& m_models;
    const ModelController& m_opener;
    std::function<QStringList()> m_folders;
    InUse m_inUse;
    ModelEntry m_entry;    // of `m_asked`
    ModelRemoval m_asked;  // the newest question, until it is answered
    bool m_busy = false;
};
