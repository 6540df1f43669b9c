// ModelPage shows one repository of the hub: its models, what they would do here, and what its publisher says.
#pragma once

#include "app/catalogue/model_facts.h"
#include "app/chat/block_model.h"
#include "app/fetching/fetching_world.h"
#include "app/fetching/model_choice_list.h"
#include "app/fetching/model_companion.h"
#include "app/fetching/model_outlook.h"
#include "app/fetching/request_thread.h"
#include "app/fetching/speed_trial.h"

#include <QObject>
#include <QtQml/qqmlregistration.h>

#include <memory>

/// Shows one repository at a time. When it has come, the header of the recommended model is read, later that of any
/// other model that the user chooses. Lives on the UI thread; owned by Fetching.
class ModelPage : public QObject
{
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("made by the program")
    Q_PROPERTY(QString modelId READ modelId NOTIFY changed)
    Q_PROPERTY(QString title READ title NOTIFY changed)
    Q_PROPERTY(bool busy READ busy NOTIFY changed)
    Q_PROPERTY(bool ready READ ready NOTIFY changed)
    Q_PROPERTY(QString error READ error NOTIFY changed)
    Q_PROPERTY(bool wantsToken READ wantsToken NOTIFY changed)
    Q_PROPERTY(QString webPage READ webPage NOTIFY changed)
    Q_PROPERTY(QString licence READ licence NOTIFY changed)
    Q_PROPERTY(bool gated READ gated NOTIFY changed)
    Q_PROPERTY(double downloads READ downloads NOTIFY changed)
    Q_PROPERTY(QList<ModelCompanion> companions READ companions NOTIFY companionsChanged)
    Q_PROPERTY(bool wantsMore READ wantsMore NOTIFY companionsChanged)
    Q_PROPERTY(BlockModel* card READ card NOTIFY changed)
    Q_PROPERTY(ModelChoiceList* choices READ choices CONSTANT)
    Q_PROPERTY(ModelOutlook* outlook READ outlook CONSTANT)
    Q_PROPERTY(SpeedTrial* trial READ trial CONSTANT)
    Q_PROPERTY(int chosen READ chosen NOTIFY lookedChanged)
    Q_PROPERTY(bool looking READ looking NOTIFY lookedChanged)
    Q_PROPERTY(ModelFacts looked READ looked NOTIFY lookedChanged)
    Q_PROPERTY(QString lookError READ lookError NOTIFY lookedChanged)
    Q_PROPERTY(QString barrier READ barrier NOTIFY lookedChanged)
    Q_PROPERTY(bool barrierWantsToken READ barrierWantsToken NOTIFY lookedChanged)

public:
    ModelPage(ModelSource* source, const FetchingWorld& world, QObject* parent = nullptr);
    ~ModelPage() override;

    QString modelId() const { return m_id; }  // empty: none is shown
    QString title() const;
    bool busy() const { return m_busy; }
    bool ready() const { return m_found.has_value(); }
    QString error() const { return m_error; }
    bool wantsToken() const { return m_wantsToken; }  // a token, or another one, may help against the error
    QString webPage() const;                          // its address for a browser; empty: it has none
    QString licence() const;
    bool gated() const { return m_found && m_found->card.gated; }
    double downloads() const { return m_found ? double(m_found->card.downloads) : 0; }
    QList<ModelCompanion> companions() const { return m_companions; }
    bool wantsMore() const;                      // a companion that is ticked is still to be fetched
    BlockModel* card() { return m_card.get(); }  // null: there is none
    ModelChoiceList* choices() { return &m_choices; }
    ModelOutlook* outlook() { return &m_outlook; }  // of `looked`
    SpeedTrial* trial() { return &m_trial; }
    int chosen() const { return m_chosen; }  // the row that was looked at last; -1: none
    bool looking() const { return m_looking; }
    ModelFacts looked() const { return m_looked; }  // of `chosen`; not known() until its header is here
    QString lookError() const { return m_lookError; }
    /// Returns why the hub does not give the files of a repository with terms to this user, as far as is known; empty:
    /// it may give them.
    QString barrier() const { return m_barrier; }
    bool barrierWantsToken() const { return m_barrierWantsToken; }  // a token, or another one, may help against it

    Q_INVOKABLE void open(const QString& id);
    Q_INVOKABLE void close();
    Q_INVOKABLE void retry();
    /// Call it when the user's token has changed: asks again for what was refused with the earlier one.
    void onToken();
    Q_INVOKABLE void look(int row);
    /// Fetches the model of a row, with the companions that are wanted.
    Q_INVOKABLE void fetch(int row);
    Q_INVOKABLE void setWanted(int companion, bool wanted);
    /// Opens a model that is here.
    Q_INVOKABLE void openHere(int row);
    /// Copies code of the card to the clipboard.
    Q_INVOKABLE void copy(const QString& text) const;

    /// Finds out on another thread which of the repository's files are on this computer.
    void lookAtDisk();
    /// Returns the repository's name, as fetch() asks for it; empty: none is shown yet.
    QString repository() const { return m_found ? QString::fromStdString(m_found->wanted) : QString(); }
    QStringList wantedCompanions() const;  // their paths there

Q_SIGNALS:
    void changed();
    void lookedChanged();
    void companionsChanged();
    void fetchRequested(const QString& repository, const QString& file, const QString& quant, double bytes,
                        const QStringList& companions);
    void openRequested(const QString& path, const QString& name);

private:
    void onFound(net::Result<FoundRepository> found);
    void onLooked(int row, const net::Result<LookedAt>& looked);
    void onRefused(int row, const net::Failure& failure);
    void lookAt(const LookedAt& looked);
    void onPlaces(const std::vector<std::filesystem::path>& places);

    ModelSource* m_source;
    const FetchingWorld& m_world;
    QString m_id;
    bool m_busy = false;
    QString m_error;
    bool m_wantsToken = false;
    std::optional<FoundRepository> m_found;
    std::unique_ptr<BlockModel> m_card;
    ModelChoiceList m_choices;
    QList<ModelCompanion> m_companions;
    ModelOutlook m_outlook;
    SpeedTrial m_trial;
    int m_chosen = -1;
    bool m_looking = false;
    ModelFacts m_looked;
    QString m_lookError;
    QString m_barrier;
    bool m_barrierWantsToken = false;
    RequestThread m_thread;
    RequestThread m_diskThread;
};
