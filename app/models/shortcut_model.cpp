#include "app/models/shortcut_model.h"

#include <QCoreApplication>
#include <QEvent>
#include <QKeySequence>

#include <span>

namespace {

enum class Owner { Window, Control };

struct Row {
    const char* action;
    const char* keys;  // portable, separated by spaces
    const char* title;
    const char* group;
    Owner owner = Owner::Window;
};

#define TEXT(text) QT_TRANSLATE_NOOP("ShortcutModel", text)

const char* const kConversations = TEXT("Conversations");
const char* const kWriting = TEXT("Writing");
const char* const kAnswers = TEXT("Answers");
const char* const kProgram = TEXT("Program");

const Row kRows[] = {
    {"newConversation", "Ctrl+N Ctrl+Shift+O", TEXT("New conversation"), kConversations},
    {"search", "Ctrl+K", TEXT("Search conversations"), kConversations},
    {"rename", "F2", TEXT("Rename the conversation"), kConversations},
    {"remove", "Del", TEXT("Delete the conversation (can be undone)"), kConversations},
    {"toggleSidebar", "Ctrl+B", TEXT("Show or hide the conversations"), kConversations},
    {"", "Return", TEXT("Send the message"), kWriting, Owner::Control},
    {"", "Shift+Return", TEXT("New line"), kWriting, Owner::Control},
    {"", "Up", TEXT("In an empty message: edit the last one"), kWriting, Owner::Control},
    {"focusInput", "Shift+Esc", TEXT("To the message field"), kWriting},
    {"escape", "Esc", TEXT("Stop the answer; leave a page"), kAnswers},
    {"regenerate", "Ctrl+R", TEXT("Answer again"), kAnswers},
    {"previousVersion", "Alt+Left", TEXT("Previous version of the answer"), kAnswers},
    {"nextVersion", "Alt+Right", TEXT("Next version of the answer"), kAnswers},
    {"copyAnswer", "Ctrl+Shift+C", TEXT("Copy the last answer"), kAnswers},
    {"copyCode", "Ctrl+Shift+;", TEXT("Copy the last code block"), kAnswers},
    {"openModel", "Ctrl+O", TEXT("Open a model file"), kProgram},
    {"showModels", "Ctrl+L", TEXT("Models"), kProgram},
    {"showSettings", "Ctrl+,", TEXT("Settings"), kProgram},
    {"larger", "Ctrl++ Ctrl+=", TEXT("Larger"), kProgram},
    {"smaller", "Ctrl+-", TEXT("Smaller"), kProgram},
    {"usualSize", "Ctrl+0", TEXT("Usual size"), kProgram},
    {"showShortcuts", "F1 Ctrl+/", TEXT("This list"), kProgram},
    {"quit", "Ctrl+Q", TEXT("Quit"), kProgram},
};

#undef TEXT

QString translated(const char* text)
{
    return QCoreApplication::translate("ShortcutModel", text);
}

QStringList sequences(const Row& row)
{
    return QString::fromLatin1(row.keys).split(QLatin1Char(' '));
}

QString readable(const QString& sequence)
{
    return QKeySequence(sequence, QKeySequence::PortableText).toString(QKeySequence::NativeText);
}

}  // namespace

ShortcutModel::ShortcutModel(QObject* parent)
    : QAbstractListModel(parent)
{
    QCoreApplication::instance()->installEventFilter(this);
}

int ShortcutModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : int(std::size(kRows));
}

QVariant ShortcutModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    const Row& row = kRows[index.row()];
    switch (role) {
    case ActionRole:
        return QString::fromLatin1(row.action);
    case SequencesRole:
        return sequences(row);
    case KeysRole: {
        QStringList keys;
        for (const QString& sequence : sequences(row))
            keys += readable(sequence);
        return keys;
    }
    case Qt::DisplayRole:
    case TitleRole:
        return translated(row.title);
    case GroupRole:
        return translated(row.group);
    case OfWindowRole:
        return row.owner == Owner::Window;
    default:
        return {};
    }
}

QHash<int, QByteArray> ShortcutModel::roleNames() const
{
    return {
        {ActionRole, "action"}, {SequencesRole, "sequences"}, {KeysRole, "keys"},
        {TitleRole, "title"},   {GroupRole, "group"},         {OfWindowRole, "ofWindow"},
    };
}

QString ShortcutModel::keysOf(const QString& action) const
{
    for (const Row& row : kRows)
        if (action == QLatin1String(row.action))
            return readable(sequences(row).first());
    return {};
}

bool ShortcutModel::eventFilter(QObject* watched, QEvent* event)
{
    if (watched == qApp && event->type() == QEvent::LanguageChange)
        Q_EMIT dataChanged(index(0), index(rowCount() - 1), {Qt::DisplayRole, KeysRole, TitleRole, GroupRole});
    return QAbstractListModel::eventFilter(watched, event);
}
