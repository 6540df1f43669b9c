// ModelFinder searches for models by words.
#pragma once

#include "app/fetching/fetching_world.h"
#include "app/fetching/first_models.h"
#include "app/fetching/found_model_list.h"
#include "app/fetching/model_source.h"
#include "app/fetching/request_thread.h"

#include <QObject>
#include <QtQml/qqmlregistration.h>

/// Searches the hub, one page of results after another, and offers a few models to begin with. Lives on the UI thread;
/// owned by Fetching.
class ModelFinder : public QObject
{
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("made by the program")
    Q_PROPERTY(FoundModelList* results READ results CONSTANT)
    Q_PROPERTY(QString words READ words NOTIFY changed)
    Q_PROPERTY(bool searching READ searching NOTIFY changed)
    Q_PROPERTY(bool searched READ searched NOTIFY changed)
    Q_PROPERTY(bool hasMore READ hasMore NOTIFY changed)
    Q_PROPERTY(QString error READ error NOTIFY changed)
    Q_PROPERTY(bool wantsToken READ wantsToken NOTIFY changed)
    Q_PROPERTY(QList<FirstModel> first READ first NOTIFY firstChanged)
    Q_PROPERTY(double firstDateMs READ firstDateMs CONSTANT)

public:
    ModelFinder(ModelSource* source, const FetchingWorld& world, QObject* parent = nullptr);

    FoundModelList* results() { return &m_results; }
    QString words() const { return m_words; }  // of the search that is shown; empty: none is
    bool searching() const { return m_searching; }
    bool searched() const { return m_searched; }  // the hub has answered the search
    bool hasMore() const { return !m_next.empty(); }
    QString error() const { return m_error; }
    bool wantsToken() const { return m_wantsToken; }  // a token, or another one, may help against the error
    QList<FirstModel> first() const { return m_first.models; }
    double firstDateMs() const { return double(m_first.date.startOfDay().toMSecsSinceEpoch()); }  // since 1970

    /// Searches for words; without any it shows the list of first models again.
    Q_INVOKABLE void search(const QString& words);
    /// Asks for the next page; does nothing while one is on its way.
    Q_INVOKABLE void more();
    /// Asks again for what failed last.
    Q_INVOKABLE void retry();
    /// Finds which of the first models fit now.
    Q_INVOKABLE void measure();
    void stop();

Q_SIGNALS:
    void changed();
    void firstChanged();

private:
    void ask();
    void onFound(const net::Result<net::FoundModels>& found);

    ModelSource* m_source;
    const FetchingWorld& m_world;
    FoundModelList m_results;
    FirstModels m_first;
    QString m_words;
    std::string m_next;
    QString m_error;
    bool m_wantsToken = false;
    bool m_searching = false;
    bool m_searched = false;
    RequestThread m_thread;
};
