// Tests the program's own pages with a fake engine, by the Qt Quick tests of this folder.
#include "app/program.h"
#include "tests/ui/bench.h"
#include "tests/ui/conversations_bench.h"

#include <QApplication>
#include <QQmlEngine>
#include <QStandardPaths>
#include <QtQuickTest>

#include <memory>

/// Gives every test file the program's modules and the bench. Made by Qt Quick Test.
class Setup : public QObject
{
    Q_OBJECT

public Q_SLOTS:
    void applicationAvailable()
    {
        QStandardPaths::setTestModeEnabled(true);  // no user's settings
        Program::prepare();
    }

    void qmlEngineAvailable(QQmlEngine* engine)
    {
        engine->addImportPath(QStringLiteral("qrc:/qt/qml"));
        m_bench = std::make_unique<Bench>();
        QQmlEngine::setObjectOwnership(m_bench.get(), QQmlEngine::CppOwnership);
        qmlRegisterSingletonInstance("Spillway.Tests", 1, 0, "Bench", m_bench.get());
        m_conversations = std::make_unique<ConversationsBench>();
        QQmlEngine::setObjectOwnership(m_conversations.get(), QQmlEngine::CppOwnership);
        qmlRegisterSingletonInstance("Spillway.Tests", 1, 0, "ConversationsBench", m_conversations.get());
    }

    void cleanupTestCase()
    {
        m_conversations.reset();
        m_bench.reset();
    }

private:
    std::unique_ptr<Bench> m_bench;
    std::unique_ptr<ConversationsBench> m_conversations;
};

// The charts are painted by a widget, so that it takes a QApplication, which Qt Quick Test would not make. Qt Quick
// Test's own arguments choose what runs: `-input FOLDER`, and functions as in `Composer::test_enter`.
int main(int argc, char* argv[])
{
    const QApplication application(argc, argv);
    Setup setup;
    return quick_test_main_with_setup(argc, argv, "ui", QUICK_TEST_SOURCE_DIR, &setup);
}
#include "tst_ui.moc"
