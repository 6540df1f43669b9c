// ExpertsOnDevice finds out what share of a mixture's experts a device would hold beside the rest of the model.
#pragma once

#include "engine/planner.h"

#include <QHash>
#include <QObject>
#include <QString>
#include <QStringList>
#include <QVariant>

/// Returns the share of the experts, from 0 to 1, that lies on the device while a conversation is short, if all the
/// rest of the model does. Undefined: the model has none, or the device does not hold the rest.
QVariant expertsOnDevice(const engine::Plan& plan);

/// Asks the planner on other threads about each model that the page shows, a few at a time. Lives on the UI thread;
/// owned by CatalogueController.
class ExpertsOnDevice : public QObject
{
    Q_OBJECT

public:
    using QObject::QObject;

    /// Sets the request with which models would be loaded, and asks anew: another device holds another share.
    void setLoadRequest(const engine::LoadRequest& request);
    void find(const QString& id, const QString& path);

Q_SIGNALS:
    /// The share is undefined without a device, where the planner failed, and where expertsOnDevice() returns none.
    void found(const QString& id, const QVariant& share);

private:
    static constexpr int kMostAtOnce = 3;  // one may lie on a network share that does not answer

    void ask(const QString& id);
    void askNext();
    void onAsked(quint64 job, const QString& id, const QVariant& share);

    engine::LoadRequest m_request;
    QHash<QString, QString> m_paths;  // by id, of what was asked for
    QStringList m_waiting;            // ids
    int m_asks = 0;                   // how many are being computed
    quint64 m_job = 0;                // the newest request's; results for earlier ones are dropped
};
