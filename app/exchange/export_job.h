// ExportJob writes conversations to files.
#pragma once

#include "app/exchange/imported.h"

#include <QObject>
#include <QSaveFile>
#include <QStringList>
#include <QTimer>

#include <memory>

class ConversationStore;

/// Writes conversations one after the other, a few at a time between the window's own work. A file appears only when it
/// is complete. Lives on the UI thread; owned by ConversationsController.
class ExportJob : public QObject
{
    Q_OBJECT

public:
    enum class Format { Json, Markdown };

    /// JSON: writes all into the file `path`; what would make a file larger than `largest_bytes`, which could not be
    /// imported, goes into further files. Markdown: writes a single one into the file `path`; several, or if `path` is
    /// a folder, each into a file of its own in the folder `path`.
    ExportJob(const ConversationStore& store, const QStringList& conversations, Format format, const QString& path,
              QObject* parent = nullptr, qint64 largest_bytes = kLargestImport_bytes);

    /// Says, when the job is done, whether a single conversation was larger than `largest_bytes`.
    bool tooLargeToImport() const { return m_tooLarge; }

    /// Returns the name of a conversation's file without a suffix: its title, as far as file systems permit it.
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
