// ExportJob writes conversations to files.
#pragma once

#include "app/exchange/imported.h"

#include <QObject>
#include <QSaveFile>
#include <QStringList>
#include <QTimer>

#include <memory>

class ConversationStore;

/// Writes conversations one after the other, a few at a time between the window's own work. A file appears when all of
/// it is there. Lives on the UI thread; owned by ConversationsController.
class ExportJob : public QObject
{
    Q_OBJECT

public:
    enum class Format { Json, Markdown };

    /// JSON: all into the file `path`, or as many files as it takes for each to be read again, of at most
    /// `largest_bytes`. Markdown: one of them into the file `path`; several, or where that is a folder, into files of
    /// their own in the folder `path`.
    ExportJob(const ConversationStore& store, const QStringList& conversations, Format format, const QString& path,
              QObject* parent = nullptr, qint64 largest_bytes = kLargestImport_bytes);

    /// Says, when the job is done, whether a single conversation was larger than `largest_bytes`.
    bool tooLargeToImport() const { return m_tooLarge; }

    /// Returns what a conversation's file is called, without a suffix: its title, as far as file systems bear it.
    static QString fileName(const QString& title);

Q_SIGNALS:
    void done(int conversations);
    void failed(const QString& sentence);

private:
    void step();
    bool begin(const QString& path);
    bool commit();
    bool write(const QString& id);
    bool writeJson(const QByteArray& json);
    bool writeMarkdown(const QByteArray& text, const QString& title);
    void end();
    void fail(const QString& why);

    const ConversationStore& m_store;
    QStringList m_waiting;
    const bool m_several;
    const Format m_format;
    const QString m_path;
    const qint64 m_largest_bytes;
    std::unique_ptr<QSaveFile> m_file;  // JSON
    qint64 m_inFile_bytes = 0;
    int m_inFile = 0;  // conversations
    bool m_tooLarge = false;
    QTimer m_timer;
    int m_written = 0;
};
