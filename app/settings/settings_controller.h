// SettingsController keeps what the user has chosen for good.
#pragma once

#include "app/settings/known_folders.h"
#include "app/settings/setting.h"

#include <QList>
#include <QObject>
#include <QStringList>
#include <QUrl>
#include <QtQml/qqmlregistration.h>

#include <array>

/// Keeps the settings in an INI file and writes each at once when it is chosen. Values in the file are taken within
/// their bounds; where writing fails, `trouble` says so, and the choice holds for this run. Lives on the UI thread;
/// owned by Program.
class SettingsController : public QObject
{
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("made by the program")
    Q_PROPERTY(Setting* theme READ theme CONSTANT)
    Q_PROPERTY(Setting* fontPercent READ fontPercent CONSTANT)
    Q_PROPERTY(Setting* language READ language CONSTANT)
    Q_PROPERTY(Setting* wrapCode READ wrapCode CONSTANT)
    Q_PROPERTY(Setting* contextTokens READ contextTokens CONSTANT)
    Q_PROPERTY(Setting* threads READ threads CONSTANT)
    Q_PROPERTY(Setting* kvType READ kvType CONSTANT)
    Q_PROPERTY(Setting* device READ device CONSTANT)
    Q_PROPERTY(Setting* emulatedMib READ emulatedMib CONSTANT)
    Q_PROPERTY(Setting* linkGb READ linkGb CONSTANT)
    Q_PROPERTY(Setting* gpuMib READ gpuMib CONSTANT)
    Q_PROPERTY(Setting* savedKvGib READ savedKvGib CONSTANT)
    Q_PROPERTY(Setting* draft READ draft CONSTANT)
    Q_PROPERTY(Setting* startWith READ startWith CONSTANT)
    Q_PROPERTY(Setting* findModels READ findModels CONSTANT)
    Q_PROPERTY(Setting* fetchMegabytesPerS READ fetchMegabytesPerS CONSTANT)
    Q_PROPERTY(Setting* logLevel READ logLevel CONSTANT)
    Q_PROPERTY(Setting* sidebarShown READ sidebarShown CONSTANT)
    Q_PROPERTY(Setting* panelShown READ panelShown CONSTANT)
    Q_PROPERTY(Setting* windowWidth READ windowWidth CONSTANT)
    Q_PROPERTY(Setting* windowHeight READ windowHeight CONSTANT)
    Q_PROPERTY(QStringList modelFolders READ modelFolders NOTIFY modelFoldersChanged)
    Q_PROPERTY(QString fetchFolder READ fetchFolder NOTIFY fetchFolderChanged)
    Q_PROPERTY(bool dark READ dark NOTIFY darkChanged)
    Q_PROPERTY(QString trouble READ trouble NOTIFY troubleChanged)

public:
    // The choices' places in their settings.
    enum Theme { System, Light, Dark };
    Q_ENUM(Theme)
    enum KvType { F16, Q8_0, F32 };  // in the order of engine::kKvTypes
    Q_ENUM(KvType)
    enum Draft { Ngram, NoDraft };
    Q_ENUM(Draft)
    enum StartWith { LastModel, Guide, Nothing };
    Q_ENUM(StartWith)
    enum LogLevel { Debug, Info, Warning, Error };
    Q_ENUM(LogLevel)
    enum FilesOf { Models, Attachments };  // the kinds of files whose last folder is remembered
    Q_ENUM(FilesOf)
    static constexpr int kMostFolders = 64;

    /// `file`: path of the INI file, whose folder is made at the first write. Empty: nothing is kept.
    explicit SettingsController(const QString& file = {}, QObject* parent = nullptr);

    Setting* theme() { return &m_theme; }
    Setting* fontPercent() { return &m_fontPercent; }
    Setting* language() { return &m_language; }            // as the system's, or one that the program speaks
    Setting* wrapCode() { return &m_wrapCode; }            // long lines scroll, or are wrapped
    Setting* contextTokens() { return &m_contextTokens; }  // 0: the model's own
    Setting* threads() { return &m_threads; }              // 0: one per physical core
    Setting* kvType() { return &m_kvType; }
    Setting* device() { return &m_device; }            // by its id
    Setting* emulatedMib() { return &m_emulatedMib; }  // of an emulated graphics memory; 0: room for some tokens
    Setting* linkGb() { return &m_linkGb; }            // a second, to and from it
    Setting* gpuMib() { return &m_gpuMib; }            // of a GPU's memory at most; 0: as much as is free
    Setting* deviceOffer() { return &m_deviceOffer; }  // 0: the emulated device is not offered any more
    Setting* savedKvGib() { return &m_savedKvGib; }    // of conversations' KV on the disk; 0: none
    Setting* draft() { return &m_draft; }              // which method guesses an answer's next tokens
    Setting* startWith() { return &m_startWith; }
    Setting* findModels() { return &m_findModels; }                  // 1: the network may be used for it
    Setting* fetchMegabytesPerS() { return &m_fetchMegabytesPerS; }  // at most; 0: as fast as they come
    Setting* serverPort() { return &m_serverPort; }                  // at which other programs are answered
    Setting* serverAsksKey() { return &m_serverAsksKey; }
    Setting* logLevel() { return &m_logLevel; }
    Setting* sidebarShown() { return &m_sidebarShown; }
    Setting* panelShown() { return &m_panelShown; }  // 0: hidden, 1: beside the page, 2: in a window of its own
    Setting* windowWidth() { return &m_windowWidth; }
    Setting* windowHeight() { return &m_windowHeight; }
    QStringList modelFolders() const { return m_modelFolders; }
    QString fetchFolder() const { return m_fetchFolder; }  // of fetched models; empty: where other programs find them
    bool dark() const;                                     // whether the theme is dark on this desktop now
    QString trouble() const { return m_trouble; }

    /// Adds a folder to search. False: it is no folder of this computer, or is in the list already.
    Q_INVOKABLE bool addModelFolder(const QUrl& folder);
    Q_INVOKABLE void removeModelFolder(const QString& folder);
    Q_INVOKABLE void setFetchFolder(const QUrl& folder);  // is searched from then on; empty: back to the usual one
    Q_INVOKABLE void dismissTrouble();

    /// Returns the folder in which a dialog begins: the last such file's, for models also one that is searched; else
    /// home. Only folders that KnownFolders has seen count: on a share that does not answer, the dialog would hang.
    Q_INVOKABLE QUrl folderOf(FilesOf files);
    /// Remembers the folder of a file that was chosen in a dialog.
    Q_INVOKABLE void rememberFolderOf(FilesOf files, const QUrl& chosen);

    QString lastModel() const { return m_lastModel; }  // that was open last; empty before the first
    void setLastModel(const QString& path);
    QString lastConversation() const { return m_lastConversation; }  // that was shown last; empty before the first
    void setLastConversation(const QString& id);
    QStringList closedFolders() const { return m_closedFolders; }  // of conversations
    void setClosedFolders(const QStringList& names);

Q_SIGNALS:
    void modelFoldersChanged();
    void fetchFolderChanged();
    void darkChanged();
    void troubleChanged();

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void read();
    void keep(const QString& key, const QVariant& value);
    void setTrouble(const QString& sentence);
    QStringList likelyFolders(FilesOf files) const;
    QString m_file, m_trouble, m_fetchFolder, m_lastModel, m_lastConversation;
    QStringList m_modelFolders, m_closedFolders;
    std::array<QString, 2> m_folders;  // by FilesOf
    KnownFolders m_known;
    QList<Setting*> m_all;
    Setting m_theme, m_fontPercent, m_language, m_wrapCode, m_contextTokens, m_threads, m_kvType, m_device,
        m_emulatedMib, m_linkGb, m_gpuMib, m_deviceOffer, m_savedKvGib, m_draft, m_startWith, m_findModels,
        m_fetchMegabytesPerS, m_serverPort, m_serverAsksKey, m_logLevel, m_sidebarShown, m_panelShown, m_windowWidth,
        m_windowHeight;
};
