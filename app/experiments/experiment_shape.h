// ExperimentShape makes the model file of a shape once, for all rows that measure it.
#pragma once

#include "engine/shape_model.h"

#include <QObject>
#include <QString>
#include <QThreadPool>

#include <atomic>
#include <memory>
#include <optional>

/// Makes one model of random weights at a time, on a thread of its own, since it may take minutes, and holds its file.
/// The file is deleted with the object, by drop() and, where the system can do that, when the program is killed. Lives
/// on the UI thread; its destructor waits until one piece of a file has been written.
class ExperimentShape : public QObject
{
    Q_OBJECT

public:
    /// `folder`: in which the files are made; it must have room for them.
    explicit ExperimentShape(QString folder, QObject* parent = nullptr);
    ~ExperimentShape() override;

    /// Drops the file that is held and begins to make another: made() or failed() follows, unless drop() comes first.
    void make(const QString& shape);
    void drop();

    bool making() const { return m_work != nullptr; }
    double share() const { return m_work ? m_work->share.load() : 0; }
    /// Returns the shape whose file is held, such as "mistral-7b:q4_k_m"; empty: none is.
    QString shape() const { return m_model ? m_shape : QString(); }
    /// Returns the file's path, which another process may open as long as it is held.
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
    QThreadPool m_thread;  // destroyed first: it waits for the work, whose result is then dropped
};
