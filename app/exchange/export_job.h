// Conversations to files.
#pragma once

#include <QObject>
#include <QSaveFile>
#include <QStringList>
#include <QTimer>

class ConversationStore;

/// Writes conversations one after the other, a few at a time between the window's own work. A file appears when all of
/// it is there. Lives on the UI thread; owned by ConversationsController.
class ExportJob : public QObject
{
    Q_OBJECT

public:
    enum class Format { Json, Markdown };

    /// JSON: all into the file `path`. Markdown: one of them into the file `path`, several into files of their own in
    /// the folder `path`.
    ExportJob(const ConversationStore& store, const QStringList& conversations, Format format, const QString& path,
              QObject* parent = nullptr);

    /// What a conversation's file is called, without a suffix: its title, as far as file systems bear it.
    static QString fileName(const QString& title);

Q_SIGNALS:
    void done(int conversations);
    void failed(const QString& sentence);

private:
    void step();
    bool begin();
    bool write(const QString& id);
    bool writeMarkdown(const QByteArray& text, const QString& title);
    void end();
    void fail(const QString& why);

    const ConversationStore& m_store;
    QStringList m_waiting;
    const bool m_several;
    const Format m_format;
    const QString m_path;
    QSaveFile m_file;
    QTimer m_timer;
    int m_written = 0;
};
