// ProgramController tells pages about the program: version, folders, notices.
#pragma once

#include "app/system/profile_folders.h"

#include <QObject>
#include <QStringList>
#include <QtQml/qqmlregistration.h>

/// Holds the facts of this build, its folders and the notices to the user. Lives on the UI thread; owned by Program.
class ProgramController : public QObject
{
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("made by the program")
    Q_PROPERTY(QString version READ version CONSTANT)
    Q_PROPERTY(QString facts READ facts CONSTANT)
    Q_PROPERTY(QString dataFolder READ dataFolder CONSTANT)
    Q_PROPERTY(QString logFolder READ logFolder CONSTANT)
    Q_PROPERTY(bool hasGuide READ hasGuide CONSTANT)
    Q_PROPERTY(QString guide READ guide CONSTANT)
    Q_PROPERTY(QStringList notices READ notices NOTIFY noticesChanged)

public:
    explicit ProgramController(const ProfileFolders& folders, const QString& guide = {}, QObject* parent = nullptr);

    QString version() const;
    QString facts() const;       // a line each, for a bug report
    QString dataFolder() const;  // with the system's own separators
    QString logFolder() const;
    bool hasGuide() const { return !m_guide.isEmpty(); }
    const QString& guide() const { return m_guide; }  // the file of the small model; empty: none
    QStringList notices() const { return m_notices; }

    /// Adds a notice, which is shown until it is dismissed. Empty sentences, and those that are shown already, are
    /// dropped.
    void say(const QString& sentence);

    Q_INVOKABLE void dismissNotice(int index);
    Q_INVOKABLE void copyFacts() const;
    Q_INVOKABLE void openLogFolder() const;
    Q_INVOKABLE void openGuide() { Q_EMIT guideRequested(m_guide); }

Q_SIGNALS:
    void noticesChanged();
    void guideRequested(const QString& file);
    void raiseRequested();  // the program was started once more

private:
    ProfileFolders m_folders;
    QString m_guide;
    QStringList m_notices;
};
