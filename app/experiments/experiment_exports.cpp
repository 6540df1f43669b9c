#include "app/experiments/experiment_exports.h"

#include "app/text/csv_field.h"

#include <QCoreApplication>
#include <QSaveFile>
#include <QStringList>

#include <algorithm>

namespace {

QString number(const std::optional<double>& value)
{
    return value ? QString::number(*value, 'g', 12) : QString();
}

std::optional<double> speedIn(const ExperimentRun& run, const QString& title, const ExperimentCell& cell)
{
    const auto found = std::ranges::find_if(run.rows, [&](const ExperimentRow& row) {
        return row.cell.contextTokens == cell.contextTokens && row.cell.strategy == cell.strategy &&
               row.cell.experts == cell.experts && run.plan.models[row.cell.model].title == title;
    });
    return found == run.rows.end() ? std::nullopt : found->tokensPerSecond;
}

}  // namespace

QByteArray ExperimentExports::csv(const ExperimentRun& run, Strategy::Name base,
                                  const std::optional<ExperimentRun>& earlier)
{
    QString text =
        QStringLiteral("model,context_tokens,strategy,experts_in_ram,expert_copies,device,device_memory,repeats,answer_"
                       "tokens,outcome,tokens_per_s,"
                       "slowest_tokens_per_s,fastest_tokens_per_s,p99_ms,read_ms,device_peak_bytes,host_peak_bytes,"
                       "expert_cache_bytes,expert_hits,expert_misses,ratio,ratio_to,sentence");
    text += earlier ? QStringLiteral(",compared_tokens_per_s\n") : QStringLiteral("\n");
    for (const ExperimentRow& row : run.rows) {
        const QString title = run.plan.models[row.cell.model].title;
        const bool placed = run.plan.placesExperts(row.cell.model, row.cell.strategy);
        QStringList fields{csvField(title),
                           QString::number(row.cell.contextTokens),
                           strategyKey(row.cell.strategy),
                           placed ? QString::number(int(row.cell.experts.inRam)) : QString(),
                           placed ? csvField(row.cell.experts.copies) : QString(),
                           csvField(row.device),
                           csvField(run.plan.memory),
                           QString::number(run.plan.repeats),
                           QString::number(run.plan.answerTokens),
                           outcomeKey(row.outcome),
                           number(row.tokensPerSecond),
                           number(row.slowest),
                           number(row.fastest),
                           number(row.p99Ms),
                           number(row.readMs),
                           number(row.deviceBytes),
                           number(row.hostBytes),
                           number(row.copyBytes),
                           number(row.expertHits),
                           number(row.expertMisses),
                           number(run.ratio(row, base)),
                           strategyKey(base),
                           csvField(row.sentence)};
        if (earlier)
            fields.append(number(speedIn(*earlier, title, row.cell)));
        text += fields.join(QLatin1Char(',')) + QLatin1Char('\n');
    }
    return text.toUtf8();
}

QString ExperimentExports::write(const QString& file, const QByteArray& content)
{
    QSaveFile out(file);
    if (out.open(QIODevice::WriteOnly) && out.write(content) == content.size() && out.commit())
        return {};
    return QCoreApplication::translate("Experiments", "The file cannot be written: %1.").arg(out.errorString());
}
