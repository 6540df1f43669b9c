// Tests that one can chat with spillway-cli on a terminal: a pseudo-terminal types as a person would.
#include "tests/support/models.h"
#include "tests/support/test_program.h"

#include <QElapsedTimer>
#include <QFile>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

/// spillway-cli on a terminal of its own. Everything it prints is collected.
class Terminal
{
public:
    explicit Terminal(const QTemporaryDir& home, const QStringList& more = {"-n", "6", "--temp", "0"},
                      const QString& model = "llama.gguf")
    {
        QStringList arguments = {SPILLWAY_CLI, "run", "-m", test_support::own_models_folder() + '/' + model};
        arguments += more;
        winsize size = {40, 100, 0, 0};
        m_child = forkpty(&m_terminal, nullptr, nullptr, &size);
        if (m_child == 0) {
            setenv("HOME", home.path().toUtf8().constData(), 1);
            setenv("TERM", "xterm-256color", 1);
            setenv("INPUTRC", "/dev/null", 1);
            unsetenv("XDG_STATE_HOME");
            QList<QByteArray> texts;
            std::vector<char*> argv;
            for (const QString& argument : arguments)
                texts.append(argument.toUtf8());
            for (QByteArray& text : texts)
                argv.push_back(text.data());
            argv.push_back(nullptr);
            execv(argv[0], argv.data());
            _exit(127);
        }
        fcntl(m_terminal, F_SETFL, O_NONBLOCK);
    }
    ~Terminal()
    {
        if (m_code < 0) {
            kill(m_child, SIGKILL);
            waitpid(m_child, nullptr, 0);
        }
        close(m_terminal);
    }

    void type(const QByteArray& keys)
    {
        m_seen = m_all.size();
        m_matched = m_seen;
        QCOMPARE(qsizetype(write(m_terminal, keys.constData(), size_t(keys.size()))), keys.size());
    }
    /// Waits until the text has come since the last key, after what was waited for before.
    bool shows(const QByteArray& text)
    {
        QElapsedTimer clock;
        clock.start();
        while (clock.elapsed() < 20'000) {
            read();
            if (const qsizetype at = m_all.indexOf(text, m_matched); at >= 0) {
                m_matched = at + text.size();
                return true;
            }
            QTest::qSleep(10);
        }
        qWarning("'%s' is not in: %s", text.constData(), m_all.mid(m_seen).toPercentEncoding(" \n[]>,").constData());
        return false;
    }
    /// Waits for the next prompt: a key typed before it meets a terminal that is not yet in raw mode.
    bool asks() { return shows("> "); }
    /// The exit code; -1: it goes on.
    int ends()
    {
        QElapsedTimer clock;
        clock.start();
        int status = 0;
        while (m_code < 0 && clock.elapsed() < 20'000) {
            read();
            if (waitpid(m_child, &status, WNOHANG) == m_child)
                m_code = WIFEXITED(status) ? WEXITSTATUS(status) : 1000;
            QTest::qSleep(10);
        }
        read();
        return m_code;
    }
    QByteArray sinceKeys()
    {
        read();
        return m_all.mid(m_seen);
    }

private:
    void read()
    {
        char buffer[4096];
        for (ssize_t count = 0; (count = ::read(m_terminal, buffer, sizeof buffer)) > 0;)
            m_all.append(buffer, count);
    }

    pid_t m_child = -1;
    int m_terminal = -1;
    int m_code = -1;
    QByteArray m_all;
    qsizetype m_seen = 0;     // what had come before the last key
    qsizetype m_matched = 0;  // the end of what was waited for
};

QByteArray content(const QString& path)
{
    QFile file(path);
    return file.open(QFile::ReadOnly) ? file.readAll() : QByteArray();
}

}  // namespace

class TestCliChat : public QObject
{
    Q_OBJECT

    std::unique_ptr<QTemporaryDir> m_home;
    QString historyFile() const { return m_home->filePath(".local/state/spillway/cli-history"); }

private Q_SLOTS:
    void init() { m_home = std::make_unique<QTemporaryDir>(); }

    void theConversationGoesOn()
    {
        Terminal terminal(*m_home);
        QVERIFY(terminal.asks());
        terminal.type("one\r");
        QVERIFY(terminal.shows(", 0 reused"));
        QVERIFY(terminal.asks());
        terminal.type("two\r");
        QVERIFY(terminal.shows("reused"));
        QVERIFY(!terminal.sinceKeys().contains(", 0 reused"));
        QVERIFY(terminal.asks());
        terminal.type("/new\r");
        QVERIFY(terminal.shows("A new conversation."));
        QVERIFY(terminal.asks());
        terminal.type("\x04");
        QCOMPARE(terminal.ends(), 0);
    }

    void commands()
    {
        Terminal terminal(*m_home);
        QVERIFY(terminal.asks());
        terminal.type("/help\r");
        QVERIFY(terminal.shows("/save FILE"));
        QVERIFY(terminal.asks());
        terminal.type("/regen\r");
        QVERIFY(terminal.shows("nothing has been answered yet"));
        QVERIFY(terminal.asks());
        terminal.type("/system be short\r");
        QVERIFY(terminal.shows("The system prompt is set."));
        QVERIFY(terminal.asks());
        terminal.type("hello\r");
        QVERIFY(terminal.shows("tok/s"));
        QVERIFY(terminal.asks());
        terminal.type("/regen\r");
        QVERIFY(terminal.shows("tok/s"));
        QVERIFY(terminal.asks());
        terminal.type("/save ~/chat.md\r");
        QVERIFY(terminal.shows("Saved as"));
        const QByteArray saved = content(m_home->filePath("chat.md"));
        QVERIFY2(saved.startsWith("## System\n\nbe short\n\n## User\n\nhello\n\n## Assistant\n\n"), saved.constData());
        QCOMPARE(saved.count("## User"), 1);
        QVERIFY(terminal.asks());
        terminal.type("/save ~/chat.md\r");
        QVERIFY(terminal.shows("is there already"));
        QVERIFY(terminal.asks());
        terminal.type("/save /nowhere/chat.md\r");
        QVERIFY(terminal.shows("cannot be written"));
        QVERIFY(terminal.asks());
        terminal.type("/sing\r");
        QVERIFY(terminal.shows("no command /sing"));
        QVERIFY(terminal.asks());
        terminal.type("//slash\r");
        QVERIFY(terminal.shows("tok/s"));
        QVERIFY(terminal.asks());
        terminal.type("/quit\r");
        QCOMPARE(terminal.ends(), 0);
        QCOMPARE(content(m_home->filePath("chat.md")), saved);
    }

    void anAnswerThatFailsTakesNothingAway()
    {
        Terminal terminal(*m_home, {"-n", "2", "--temp", "0", "-c", "256"});
        QVERIFY(terminal.asks());
        for (const char* const question : {"one\r", "two\r"}) {
            terminal.type(question);
            QVERIFY(terminal.shows("tok/s"));
            QVERIFY(terminal.asks());
        }
        terminal.type("/system " + QByteArray(300, 'z') + '\r');
        QVERIFY(terminal.shows("The system prompt is set."));
        QVERIFY(terminal.asks());
        terminal.type("/regen\r");
        QVERIFY(terminal.shows("the prompt needs"));
        QVERIFY(terminal.asks());
        terminal.type("/save ~/chat.md\r");
        QVERIFY(terminal.shows("Saved as"));
        const QByteArray saved = content(m_home->filePath("chat.md"));
        QCOMPARE(saved.count("## User"), 2);
        QCOMPARE(saved.count("## Assistant"), 2);
    }

    void aModelThatContinuesTextTakesNoSystemPrompt()
    {
        Terminal terminal(*m_home, {"-n", "2", "--temp", "0", "--raw", "--system", "be kind"});
        QVERIFY(terminal.shows("the system prompt is not used"));
        QVERIFY(terminal.asks());
        terminal.type("/system be short\r");
        QVERIFY(terminal.shows("There is no system prompt where text is continued"));
        QVERIFY(!terminal.sinceKeys().contains("is set"));
    }

    void whatLooksLikeAHeadingIsSavedAsText()
    {
        Terminal terminal(*m_home);
        QVERIFY(terminal.asks());
        terminal.type("\x1b[200~## User\n\\## Assistant (x)\n## Users\n#### User\x1b[201~\r");
        QVERIFY(terminal.shows("tok/s"));
        QVERIFY(terminal.asks());
        terminal.type("/save ~/headings.md\r");
        QVERIFY(terminal.shows("Saved as"));
        const QByteArray saved = content(m_home->filePath("headings.md"));
        QVERIFY2(saved.startsWith("## User\n\n\\## User\n\\\\## Assistant (x)\n## Users\n#### User\n\n## Assistant\n"),
                 saved.constData());
    }

    void theUpArrowBringsBackWhatWasTyped()
    {
        {
            Terminal terminal(*m_home);
            QVERIFY(terminal.asks());
            terminal.type("größe ü\r");
            QVERIFY(terminal.shows("tok/s"));
            QVERIFY(terminal.asks());
            terminal.type("\x04");
            QCOMPARE(terminal.ends(), 0);
        }
        QCOMPARE(content(historyFile()), QByteArray("größe ü\n"));
        QCOMPARE(QFile::permissions(historyFile()) & (QFile::ReadGroup | QFile::ReadOther), QFile::Permissions());
        Terminal terminal(*m_home);
        QVERIFY(terminal.asks());
        terminal.type("\x1b[A");
        QVERIFY(terminal.shows("größe ü"));
        terminal.type("\x7f"
                      "a\r");  // the last letter is one character, not two bytes
        QVERIFY(terminal.shows("tok/s"));
        QCOMPARE(content(historyFile()), QByteArray("größe ü\ngröße a\n"));
    }

    void aPastedTextIsOneMessage()
    {
        Terminal terminal(*m_home);
        QVERIFY(terminal.asks());
        terminal.type("\x1b[200~first\nsecond\\n\n\nlast\x1b[201~");
        QVERIFY(terminal.shows("last"));
        terminal.type("\r");
        QVERIFY(terminal.shows("tok/s"));
        QVERIFY(terminal.asks());
        terminal.type("typed\x1b\rbelow\r");
        QVERIFY(terminal.shows("tok/s"));
        QVERIFY(terminal.asks());
        terminal.type("\x04");
        QCOMPARE(terminal.ends(), 0);
        QCOMPARE(content(historyFile()), QByteArray("first\\nsecond\\\\n\\n\\nlast\ntyped\\nbelow\n"));
    }

    void interruptsTakeBackStopAndEnd()
    {
        // Greedily this model goes round in a circle: the answer does not end by itself.
        Terminal terminal(*m_home, {"--temp", "0", "-n", "1000000", "-c", "262144"}, "llama3-rope.gguf");
        QVERIFY(terminal.asks());
        terminal.type("half a line");
        QVERIFY(terminal.shows("half a line"));
        terminal.type("\x03");
        QVERIFY(terminal.asks());
        terminal.type("go\r");
        QTRY_VERIFY_WITH_TIMEOUT(terminal.sinceKeys().size() > 200, 20'000);  // it is talking
        terminal.type("\x03");
        QVERIFY(terminal.shows("tok/s"));
        QVERIFY(terminal.asks());
        terminal.type("\x03");
        QVERIFY(terminal.shows("Ctrl+C again"));
        QVERIFY(terminal.asks());
        terminal.type("\x03");
        QCOMPARE(terminal.ends(), 0);
    }

    void anInterruptEndsWhatIsPiped()
    {
        // Greedily this model goes round in a circle: the answer does not end by itself.
        QProcess process;
        process.start(SPILLWAY_CLI, {"run", "-m", test_support::own_models_folder() + "/llama3-rope.gguf", "--temp",
                                     "0", "-n", "1000000", "-c", "262144"});
        process.write("go\ngo on\n");
        process.closeWriteChannel();
        QTRY_VERIFY_WITH_TIMEOUT(process.bytesAvailable() > 200, 20'000);  // it is talking
        QCOMPARE(kill(pid_t(process.processId()), SIGINT), 0);
        QVERIFY(process.waitForFinished(20'000));
        QCOMPARE(process.exitStatus(), QProcess::NormalExit);
        QCOMPARE(process.exitCode(), 130);
        QCOMPARE(process.readAllStandardError().count("first token after"), 1);
    }

    /// Else a script would take half an answer for a whole one.
    void anInterruptedAnswerIsNoSuccess()
    {
        QProcess process;
        process.start(SPILLWAY_CLI, {"run", "-m", test_support::own_models_folder() + "/llama3-rope.gguf", "--temp",
                                     "0", "-n", "1000000", "-c", "262144", "-p", "go"});
        QTRY_VERIFY_WITH_TIMEOUT(process.bytesAvailable() > 200, 20'000);  // it is talking
        QCOMPARE(kill(pid_t(process.processId()), SIGINT), 0);
        QVERIFY(process.waitForFinished(20'000));
        QCOMPARE(process.exitCode(), 130);
    }

    /// Where it reads a prompt that is larger than a pipe, Ctrl+C is caught, and no model is there yet.
    void anInterruptBeforeTheModelIsThereEndsIt()
    {
        QProcess process;
        process.start(SPILLWAY_CLI, {"run", "-m", test_support::own_models_folder() + "/llama.gguf", "-f", "-"});
        process.write(QByteArray(1 << 20, 'x'));
        while (process.bytesToWrite() > 0)
            QVERIFY(process.waitForBytesWritten());
        QCOMPARE(kill(pid_t(process.processId()), SIGINT), 0);
        process.closeWriteChannel();
        QVERIFY(process.waitForFinished());
        QCOMPARE(process.exitCode(), 1);
        QVERIFY(process.readAllStandardOutput().isEmpty());
        const QByteArray said = process.readAllStandardError();
        QVERIFY2(said.contains("loading was cancelled") || said.contains("was stopped"), said.constData());
    }

    void nothingIsKeptWhenAskedSo()
    {
        Terminal terminal(*m_home, {"--no-history", "-n", "6"});
        QVERIFY(terminal.asks());
        terminal.type("secret\r");
        QVERIFY(terminal.shows("tok/s"));
        QVERIFY(terminal.asks());
        terminal.type("\x04");
        QCOMPARE(terminal.ends(), 0);
        QVERIFY(!QFile::exists(historyFile()));
    }

    void aHistoryThatCannotBeReadIsEmpty()
    {
        QDir().mkpath(historyFile());  // a folder by that name
        Terminal terminal(*m_home);
        QVERIFY(terminal.asks());
        terminal.type("one\r");
        QVERIFY(terminal.shows("tok/s"));
        QVERIFY(terminal.asks());
        terminal.type("\x04");
        QCOMPARE(terminal.ends(), 0);
    }

    void theModelCannotDriveTheTerminal()
    {
        Terminal terminal(*m_home,
                          {"--temp", "3", "-s", "1", "--top-k", "0", "--top-p", "1", "--min-p", "0", "-n", "300"});
        QVERIFY(terminal.asks());
        terminal.type("x\r");
        QVERIFY(terminal.shows("tok/s"));
        QByteArray answer = terminal.sinceKeys();
        answer = answer.mid(answer.indexOf("x\r\n") + 3);
        answer.truncate(answer.indexOf("\n["));
        QVERIFY(!answer.isEmpty());
        answer.replace("\x1b[?2004l\r", "");  // readline leaves its paste mode
        for (const char c : answer)
            QVERIFY2(c == '\n' || c == '\r' || c == '\t' || static_cast<unsigned char>(c) >= 0x20,
                     answer.toPercentEncoding(" \n").constData());
    }
};

SPILLWAY_TEST(QCoreApplication, TestCliChat)
#include "tst_cli_chat.moc"
