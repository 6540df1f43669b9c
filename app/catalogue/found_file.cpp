#include "app/catalogue/found_file.h"

#include <QDir>
#include <QFileInfo>

namespace {

/// Returns publisher/model, from the folders between the store and the file; empty where there are none.
QString repository(const QString& root, const QString& path)
{
    const QString relative = QDir(root).relativeFilePath(QFileInfo(path).path());
    return relative == QLatin1String(".") || relative.startsWith(QLatin1String("..")) ? QString() : relative;
}

}  // namespace

Findings lookInto(const StoreFolder& place, const WalkLimits& limits, const std::stop_token& stop)
{
    if (!QFileInfo(place.path).isDir())
        return {};
    if (place.store == Store::Ollama)
        return lookIntoOllama(place.path, limits, stop);
    if (place.store == Store::HuggingFace)
        return lookIntoHuggingFace(place.path, limits, stop);

    const Walk walk = findModelFiles(place.path, limits, stop);
    Findings found;
    found.there = true;
    found.unfinished = walk.unfinished;
    found.unreadable = walk.unreadable;
    found.cutShort = walk.cutShort;
    for (const QString& path : walk.files) {
        FoundFile file;
        file.store = place.store;
        file.path = path;
        if (place.store == Store::LmStudio || place.store == Store::Jan)
            file.name = repository(place.path, path);
        found.files.append(file);
    }
    return found;
}
