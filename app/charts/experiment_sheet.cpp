#include "app/charts/experiment_sheet.h"

#include "app/charts/custom_plot.h"
#include "app/experiments/experiment_exports.h"
#include "app/system/chosen_path.h"

#include <QBuffer>
#include <QImage>
#include <QSvgGenerator>

namespace {

constexpr int kColumns = 2;
constexpr QSize kFigure(560, 320);
constexpr int kSheetMargin = 24, kTitleHeight = 30, kLegendHeight = 34, kFigureTitle = 22;
constexpr int kFontPixels = 13;
constexpr int kSwatch = 10;
constexpr double kScale = 2;  // of a PNG, for print

QSize sheetSize(qsizetype figures)
{
    const int rows = int((figures + kColumns - 1) / kColumns);
    return {kSheetMargin + kColumns * (kFigure.width() + kSheetMargin),
            kSheetMargin + 2 * kTitleHeight + kLegendHeight + rows * (kFigureTitle + kFigure.height() + kSheetMargin)};
}

}  // namespace

QString ExperimentSheet::save(const QUrl& file) const
{
    const QString path = chosenPath(file);
    return ExperimentExports::write(path, path.endsWith(QLatin1String(".svg"), Qt::CaseInsensitive) ? svg() : png());
}

QByteArray ExperimentSheet::png() const
{
    QImage image(sheetSize(m_figures.size()) * kScale, QImage::Format_RGB32);
    image.fill(m_figures.isEmpty() ? QColor(Qt::white) : m_figures.first()->ground());
    {
        QCPPainter painter(&image);
        painter.scale(kScale, kScale);
        painter.setMode(QCPPainter::pmVectorized);  // nothing is cached at the screen's own resolution
        paint(painter);
    }
    QBuffer bytes;
    bytes.open(QIODevice::WriteOnly);
    image.save(&bytes, "PNG");
    return bytes.data();
}

QByteArray ExperimentSheet::svg() const
{
    QBuffer bytes;
    bytes.open(QIODevice::WriteOnly);
    {
        QSvgGenerator generator;
        const QSize size = sheetSize(m_figures.size());
        generator.setOutputDevice(&bytes);
        generator.setSize(size);
        generator.setViewBox(QRect(QPoint(), size));
        generator.setTitle(m_title);
        generator.setDescription(m_note);
        QCPPainter painter(&generator);
        painter.setMode(QCPPainter::pmVectorized);
        if (!m_figures.isEmpty())
            painter.fillRect(QRect(QPoint(), size), m_figures.first()->ground());
        paint(painter);
    }
    return bytes.data();
}

void ExperimentSheet::paint(QCPPainter& painter) const
{
    if (m_figures.isEmpty())
        return;
    const ExperimentChart& first = *m_figures.first();
    QFont plain(first.fontFamily());
    plain.setPixelSize(kFontPixels);
    QFont heavy = plain;
    heavy.setWeight(QFont::DemiBold);
    const int width = sheetSize(m_figures.size()).width() - 2 * kSheetMargin;

    painter.setFont(heavy);
    painter.setPen(first.ink());
    painter.drawText(QRect(kSheetMargin, kSheetMargin, width, kTitleHeight), Qt::AlignLeft | Qt::AlignVCenter, m_title);
    painter.setFont(plain);
    painter.setPen(first.mutedInk());
    painter.drawText(QRect(kSheetMargin, kSheetMargin + kTitleHeight, width, kTitleHeight),
                     Qt::AlignLeft | Qt::AlignVCenter, m_note);
    paintLegend(painter, kSheetMargin + 2 * kTitleHeight);

    const int top = kSheetMargin + 2 * kTitleHeight + kLegendHeight;
    for (int i = 0; i < m_figures.size(); ++i) {
        const int x = kSheetMargin + i % kColumns * (kFigure.width() + kSheetMargin);
        const int y = top + i / kColumns * (kFigureTitle + kFigure.height() + kSheetMargin);
        painter.setFont(heavy);
        painter.setPen(first.ink());
        painter.drawText(QRect(x, y, kFigure.width(), kFigureTitle), Qt::AlignLeft | Qt::AlignVCenter,
                         m_figures[i]->title());
        painter.save();
        painter.translate(x, y + kFigureTitle);
        m_figures[i]->drawWhole(painter, kFigure);
        painter.restore();
    }
}

void ExperimentSheet::paintLegend(QCPPainter& painter, int top) const
{
    const ExperimentChart& first = *m_figures.first();
    const QFontMetrics metrics(painter.font());
    int x = kSheetMargin;
    for (const auto& [name, color] : first.legend()) {
        const QRect swatch(x, top + (kLegendHeight - kSwatch) / 2, kSwatch, kSwatch);
        if (color.isValid())
            painter.fillRect(swatch, color);
        x += color.isValid() ? kSwatch + kSwatch / 2 : 0;
        const int width = metrics.horizontalAdvance(name) + 1;
        painter.setPen(first.ink());
        painter.drawText(QRect(x, top, width + kSheetMargin, kLegendHeight), Qt::AlignLeft | Qt::AlignVCenter, name);
        x += width + kSheetMargin;
    }
}

#include "moc_experiment_sheet.cpp"
