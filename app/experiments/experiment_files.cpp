#include "app/experiments/experiment_files.h"

#include "app/catalogue/tell_apart.h"

#include <QCoreApplication>
#include <QFileInfo>

#include <algorithm>
#include <utility>

namespace {

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

QList<ExperimentDraft::Candidate> experimentFiles(const ModelController& models, const CatalogueController& catalogue,
                                                  const QString& guide)
{
    QList<ExperimentDraft::Candidate> files;
    const auto add = [&](const QString& title, const QString& path, int experts, int contextTokens,
                         const QString& detail) {
        const QString key = QFileInfo(path).canonicalFilePath();
        const bool known = std::ranges::any_of(files, [&](const ExperimentDraft::Candidate& other) {
            return other.model.path == path ||
                   (!key.isEmpty() && QFileInfo(other.model.path).canonicalFilePath() == key);
        });
        if (!known)
            files.append({{title, path, {}, experts > 0, contextTokens}, detail});
    };
    if (models.current().known() && models.current().server.isEmpty())  // what is measured runs here
        add(models.current().name, QString::fromStdU16String(models.loadedRequest().model.u16string()),
            models.current().experts, models.current().contextTokens,
            QCoreApplication::translate("Experiments", "open in the conversation"));
    if (QFileInfo(guide).isFile())
        add(QCoreApplication::translate("Experiments", "Spillway guide"), guide, 0, 0,
            QCoreApplication::translate("Experiments", "the small model that comes with Spillway"));
    for (const ModelEntry& entry : catalogue.measurable())
        add(entry.title, entry.path, entry.info.experts, entry.info.context_tokens, entry.shownPath());
    markNamesakes(files);
    return files;
}
