// ExperimentShape makes the model file of a shape once, for all rows that measure it.
#pragma once

#include "engine/shape_model.h"

#include <QObject>
#include <QString>
#include <QThreadPool>

#include <atomic>
#include <memory>
#include <optional>

/// Makes one model of random weights at a time, on a thread of its own, since it may take minutes, and holds its file;
/// that is gone with the object, with drop(), and where the system can also when the program is killed. Lives on the UI
/// thread; its end waits for one piece of a file to be written.
class ExperimentShape : public QObject
{
    Q_OBJECT

public:
    /// `folder`: where there is room for it.
    explicit ExperimentShape(QString folder, QObject* parent = nullptr);
    ~ExperimentShape() override;

    /// made() or failed() follows, unless drop() comes first. What was held before is dropped.
    void make(const QString& shape);
    void drop();

    bool making() const { return m_work != nullptr; }
    double share() const { return m_work ? m_work->share.load() : 0; }
    /// "mistral-7b:q4_k_m": whose file is held; empty: none is.
    QString shape() const { return m_model ? m_shape : QString(); }
    /// Returns what another process may open as long as it is held.
    QString file() const;

Q_SIGNALS:
    void made();
    void failed(const QString& sentence);

private:
    struct Work {
        std::atomic<bool> givenUp = false;
        std::atomic<double> share = 0;
    };
    void take(engine::Result<engine::ShapeModel>& result);

    QString m_folder, m_shape;
    std::shared_ptr<Work> m_work;  // while one is being made
    std::optional<engine::ShapeModel> m_model;
    QThreadPool m_thread;  // goes first, and with it what would come back here
};
