// ExpertsOnDevice finds out what share of a mixture's experts a device would hold beside the rest of the model.
#pragma once

#include "engine/planner.h"

#include <QHash>
#include <QObject>
#include <QString>
#include <QStringList>
#include <QVariant>

/// The share of the experts that lies on the device while a conversation is short, where all the rest of the model
/// does; undefined: the model has none, or the device does not hold the rest.
QVariant expertsOnDevice(const engine::Plan& plan);

/// Asks the planner on another thread, of one model after another as the page shows them. Lives on the UI thread; owned
/// by CatalogueController.
class ExpertsOnDevice : public QObject
{
    Q_OBJECT

public:
    using QObject::QObject;

    /// Sets what models would be loaded with: another device has another share.
    void setLoadRequest(const engine::LoadRequest& request);
    void find(const QString& id, const QString& path);

Q_SIGNALS:
    /// The share is undefined where it is not known any more, and for expertsOnDevice()'s reasons.
    void found(const QString& id, const QVariant& share);

private:
    static constexpr int kMostAtOnce = 3;  // one may lie on a network share that does not answer

    void ask(const QString& id);
    void askNext();
    void onAsked(quint64 job, const QString& id, const QVariant& share);

    engine::LoadRequest m_request;
    QHash<QString, QString> m_paths;  // by id, of what was asked for
    QStringList m_waiting;            // ids
    int m_asks = 0;                   // how many wait for an answer
    quint64 m_job = 0;                // what was asked of another device is dropped
};
