#include "app/experiments/experiment_files.h"

#include "app/catalogue/tell_apart.h"

#include <QCoreApplication>
#include <QFileInfo>
#include <QSet>

#include <utility>

namespace {

constexpr const char* kGuideName = QT_TRANSLATE_NOOP("Experiments", "Spillway guide");  // the name in its file, too

/// Gives files with the same title different ones, since a run knows a model by its title.
void markNamesakes(QList<ExperimentDraft::Candidate>& files)
{
    QList<NamedFile> named;
    for (const ExperimentDraft::Candidate& file : std::as_const(files))
        named.append({file.model.title, file.model.path});
    const QStringList marks = tellApart(named);
    for (qsizetype i = 0; i < files.size(); ++i)
        if (!marks[i].isEmpty())
            files[i].model.title = QStringLiteral("%1 (%2)").arg(files[i].model.title, marks[i]);
}

}  // namespace

QList<ExperimentDraft::Candidate> experimentFiles(const ModelFacts& open, const QString& openId, const QString& guide,
                                                  const QList<ModelEntry>& found)
{
    QList<ExperimentDraft::Candidate> files;
    QSet<QString> known;
    const auto add = [&](const QString& id, const QString& title, const QString& path, int experts, int contextTokens,
                         const QString& detail) {
        if (known.contains(id))
            return;
        known.insert(id);
        files.append({{title, path, {}, experts > 0, contextTokens}, detail});
    };
    const QFileInfo guideFile(guide);
    const bool hasGuide = guideFile.isFile();
    const auto isCopyOfGuide = [&](const ModelFacts& facts) {
        return hasGuide && facts.name == QLatin1String(kGuideName) && qint64(facts.fileBytes) == guideFile.size();
    };
    const bool openIsListed = open.known() && open.server.isEmpty();  // a server's model cannot be measured
    if (openIsListed)
        add(openId, open.name, open.path, open.experts, open.contextTokens,
            QCoreApplication::translate("Experiments", "open in the conversation"));
    if (hasGuide && !(openIsListed && isCopyOfGuide(open)))
        add(guide, QCoreApplication::translate("Experiments", kGuideName), guide, 0, 0,
            QCoreApplication::translate("Experiments", "the small model that comes with Spillway"));
    for (const ModelEntry& entry : found)
        if (!isCopyOfGuide(entry.facts))
            add(entry.id, entry.title, entry.path, entry.info.experts, entry.info.context_tokens, entry.shownPath());
    markNamesakes(files);
    return files;
}
