// ExperimentSheet paints an experiment's figures on one sheet and writes it to a PNG or SVG file.
#pragma once

#include "app/charts/experiment_chart.h"

#include <QByteArray>
#include <QObject>
#include <QQmlListProperty>
#include <QString>
#include <QUrl>

class QCPPainter;

/// Paints charts as they look in the window, with their titles and a legend, into a PNG or an SVG. Lives on the UI
/// thread.
class ExperimentSheet : public QObject
{
    Q_OBJECT
    QML_ELEMENT
    Q_PROPERTY(QQmlListProperty<ExperimentChart> figures READ figures CONSTANT)
    Q_PROPERTY(QString title MEMBER m_title NOTIFY changed)
    Q_PROPERTY(QString note MEMBER m_note NOTIFY changed)

public:
    using QObject::QObject;

    QQmlListProperty<ExperimentChart> figures() { return {this, &m_figures}; }

    /// Writes the sheet as SVG if the file's suffix is svg, else as PNG. Returns why it could not, one sentence; empty:
    /// it was written.
    Q_INVOKABLE QString save(const QUrl& file) const;
    QByteArray png() const;
    QByteArray svg() const;

Q_SIGNALS:
    void changed();

private:
    void paint(QCPPainter& painter) const;
    void paintLegend(QCPPainter& painter, int top) const;

    QList<ExperimentChart*> m_figures;
    QString m_title, m_note;
};
