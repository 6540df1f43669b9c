#include "app/catalogue/model_entry.h"

#include "app/text/visible_text.h"

#include <QCoreApplication>
#include <QDir>

QString ModelEntry::shownPath() const
{
    if (store == Store::Server)
        return facts.fileName;
    QString shown = QDir::toNativeSeparators(path);
    const QString home = QDir::toNativeSeparators(QDir::homePath()) + QDir::separator();
    if (shown.startsWith(home))
        shown.replace(0, home.size() - 1, QStringLiteral("~"));
    return VisibleText::of(shown);
}

QString ModelEntry::storeName() const
{
    switch (store) {
    case Store::Folder:
        break;
    case Store::Ollama:
        return QStringLiteral("Ollama");
    case Store::HuggingFace:
        return QStringLiteral("Hugging Face");
    case Store::LmStudio:
        return QStringLiteral("LM Studio");
    case Store::Jan:
        return QStringLiteral("Jan");
    case Store::Gpt4All:
        return QStringLiteral("GPT4All");
    case Store::LlamaCpp:
        return QStringLiteral("llama.cpp");
    case Store::Opened:
        return QCoreApplication::translate("ModelEntry", "Opened");
    case Store::Server:
        return origin;
    }
    return QCoreApplication::translate("ModelEntry", "Folder");
}

QString ModelEntry::titleWithQuantisation() const
{
    return facts.quantization.isEmpty() ? title : title + QStringLiteral(" · ") + facts.quantization;
}

#include "moc_model_entry.cpp"
