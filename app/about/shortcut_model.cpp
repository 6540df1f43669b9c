#include "app/about/shortcut_model.h"

#include <QCoreApplication>
#include <QEvent>
#include <QKeySequence>

#include <span>

namespace {

enum class Owner { Window, AllWindows, Control };

struct ShortcutRow {
    const char* action;
    const char* keys;  // portable, separated by spaces
    const char* title;
    const char* group;
    Owner owner = Owner::Window;
};

const char* const kConversations = QT_TRANSLATE_NOOP("ShortcutModel", "Conversations");
const char* const kWriting = QT_TRANSLATE_NOOP("ShortcutModel", "Writing");
const char* const kAnswers = QT_TRANSLATE_NOOP("ShortcutModel", "Answers");
const char* const kProgram = QT_TRANSLATE_NOOP("ShortcutModel", "Program");

const ShortcutRow kShortcutRows[] = {
    {"newConversation", "Ctrl+N Ctrl+Shift+O", QT_TRANSLATE_NOOP("ShortcutModel", "New conversation"), kConversations},
    {"search", "Ctrl+K", QT_TRANSLATE_NOOP("ShortcutModel", "Search conversations"), kConversations},
    {"rename", "F2", QT_TRANSLATE_NOOP("ShortcutModel", "Rename the conversation"), kConversations},
    {"remove", "Del", QT_TRANSLATE_NOOP("ShortcutModel", "Delete the conversation (can be undone)"), kConversations},
    {"toggleSidebar", "Ctrl+B", QT_TRANSLATE_NOOP("ShortcutModel", "Show or hide the conversations"), kConversations},
    {"", "Return", QT_TRANSLATE_NOOP("ShortcutModel", "Send the message"), kWriting, Owner::Control},
    {"", "Shift+Return", QT_TRANSLATE_NOOP("ShortcutModel", "New line"), kWriting, Owner::Control},
    {"", "Up", QT_TRANSLATE_NOOP("ShortcutModel", "In an empty message: edit the last one"), kWriting, Owner::Control},
    {"attach", "Ctrl+Shift+A", QT_TRANSLATE_NOOP("ShortcutModel", "Attach files"), kWriting},
    {"conversationSettings", "Ctrl+.", QT_TRANSLATE_NOOP("ShortcutModel", "Conversation settings"), kWriting},
    {"focusInput", "Shift+Esc", QT_TRANSLATE_NOOP("ShortcutModel", "To the message field"), kWriting},
    {"escape", "Esc", QT_TRANSLATE_NOOP("ShortcutModel", "Stop the answer or the loading; leave a page"), kAnswers},
    {"regenerate", "Ctrl+R", QT_TRANSLATE_NOOP("ShortcutModel", "Answer again"), kAnswers},
    {"previousVersion", "Alt+Left", QT_TRANSLATE_NOOP("ShortcutModel", "Previous version of the answer"), kAnswers},
    {"nextVersion", "Alt+Right", QT_TRANSLATE_NOOP("ShortcutModel", "Next version of the answer"), kAnswers},
    {"copyAnswer", "Ctrl+Shift+C", QT_TRANSLATE_NOOP("ShortcutModel", "Copy the last answer"), kAnswers},
    {"copyCode", "Ctrl+Shift+;", QT_TRANSLATE_NOOP("ShortcutModel", "Copy the last code block"), kAnswers},
    {"openModel", "Ctrl+O", QT_TRANSLATE_NOOP("ShortcutModel", "Open a model file"), kProgram},
    {"switchModel", "Ctrl+Shift+L", QT_TRANSLATE_NOOP("ShortcutModel", "Choose one of the last models"), kProgram},
    {"showModels", "Ctrl+L", QT_TRANSLATE_NOOP("ShortcutModel", "Models"), kProgram},
    {"showExperiments", "Ctrl+Shift+E", QT_TRANSLATE_NOOP("ShortcutModel", "Experiments"), kProgram},
    {"showSettings", "Ctrl+,", QT_TRANSLATE_NOOP("ShortcutModel", "Settings"), kProgram},
    {"togglePanel", "Ctrl+Shift+M", QT_TRANSLATE_NOOP("ShortcutModel", "Show or hide memory pressure"), kProgram,
     Owner::AllWindows},
    {"toggleYield", "Ctrl+Shift+Y",
     QT_TRANSLATE_NOOP("ShortcutModel", "Give device memory to another program, or take it back"), kProgram,
     Owner::AllWindows},
    {"larger", "Ctrl++ Ctrl+=", QT_TRANSLATE_NOOP("ShortcutModel", "Larger"), kProgram, Owner::AllWindows},
    {"smaller", "Ctrl+-", QT_TRANSLATE_NOOP("ShortcutModel", "Smaller"), kProgram, Owner::AllWindows},
    {"usualSize", "Ctrl+0", QT_TRANSLATE_NOOP("ShortcutModel", "Usual size"), kProgram, Owner::AllWindows},
    {"showShortcuts", "F1 Ctrl+/", QT_TRANSLATE_NOOP("ShortcutModel", "This list"), kProgram},
    {"quit", "Ctrl+Q", QT_TRANSLATE_NOOP("ShortcutModel", "Quit"), kProgram, Owner::AllWindows},
};

QString translated(const char* text)
{
    return QCoreApplication::translate("ShortcutModel", text);
}

QStringList sequences(const ShortcutRow& row)
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
    return parent.isValid() ? 0 : int(std::size(kShortcutRows));
}

QVariant ShortcutModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    const ShortcutRow& row = kShortcutRows[index.row()];
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
        return row.owner != Owner::Control;
    case InAllWindowsRole:
        return row.owner == Owner::AllWindows;
    default:
        return {};
    }
}

QHash<int, QByteArray> ShortcutModel::roleNames() const
{
    return {
        {ActionRole, "action"},
        {SequencesRole, "sequences"},
        {KeysRole, "keys"},
        {TitleRole, "title"},
        {GroupRole, "group"},
        {OfWindowRole, "ofWindow"},
        {InAllWindowsRole, "inAllWindows"},
    };
}

QString ShortcutModel::keysOf(const QString& action) const
{
    for (const ShortcutRow& row : kShortcutRows)
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

#include "moc_shortcut_model.cpp"
