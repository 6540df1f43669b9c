#include "app/experiments/experiment_shape.h"

#include "app/worker/error_sentence.h"

#include <utility>

ExperimentShape::ExperimentShape(QString folder, QObject* parent)
    : QObject(parent)
    , m_folder(std::move(folder))
{
    m_thread.setMaxThreadCount(1);
}

ExperimentShape::~ExperimentShape()
{
    drop();
}

void ExperimentShape::make(const QString& shape)
{
    drop();  // two files would take twice the room
    m_shape = shape;
    m_work = std::make_shared<Work>();
    m_thread.start(
        [this, work = m_work, name = shape.toStdString(), folder = std::filesystem::path(m_folder.toStdU16String())] {
            const auto result = std::make_shared<engine::Result<engine::ShapeModel>>(
                engine::ShapeModel::make(name, folder, [&](double share) {
                    work->share = share;
                    return !work->givenUp;
                }));
            QMetaObject::invokeMethod(
                this,
                [this, work, result] {
                    if (m_work == work)
                        take(*result);
                },
                Qt::QueuedConnection);
        });
}

void ExperimentShape::drop()
{
    if (m_work)
        m_work->givenUp = true;
    m_work.reset();
    m_model.reset();
}

QString ExperimentShape::file() const
{
    return m_model ? QString::fromStdU16String(m_model->path().u16string()) : QString();
}

void ExperimentShape::take(engine::Result<engine::ShapeModel>& result)
{
    m_work.reset();
    if (result) {
        m_model = std::move(*result);
        Q_EMIT made();
    } else {
        Q_EMIT failed(errorSentence(result.error()));
    }
}

#include "moc_experiment_shape.cpp"
