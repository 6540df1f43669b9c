// Runs the window's program on the real engine.
#include "app/command_line.h"
#include "app/log/log.h"
#include "app/program.h"
#include "app/system/exit_deadline.h"
#include "app/system/plain_numbers.h"
#include "app/system/profile_folders.h"
#include "app/system/single_instance.h"
#include "engine/engine.h"

#include <QApplication>
#include <QMessageBox>

#include <chrono>
#include <cstdio>
#include <span>

namespace {

// The longest time from the window's closing to the process's end. The aim is five seconds in all: on a busy machine
// the system may need the last one to take gigabytes of memory back from the process.
constexpr std::chrono::milliseconds kLongestEnd{4'000};

int sayHung()
{
    const QString sentence = QCoreApplication::translate(
        "main", "Spillway is running already and does not answer. End it, or wait until it does.");
    std::fprintf(stderr, "spillway: %s\n", qPrintable(sentence));
    QMessageBox::warning(nullptr, QApplication::applicationDisplayName(), sentence);
    return 1;
}

void nameProgram()
{
    QCoreApplication::setApplicationName(QStringLiteral("spillway"));
    QCoreApplication::setOrganizationName(QStringLiteral("spillway"));
    QCoreApplication::setApplicationVersion(QStringLiteral(SPILLWAY_VERSION));
}

/// Prints what was asked for and ends the process, without a display, which QApplication would not do.
void tellAboutProgram(int argc, char* argv[])
{
    const QCoreApplication application(argc, argv);
    CommandLine::parse(QCoreApplication::arguments());
}

}  // namespace

int main(int argc, char* argv[])
{
    nameProgram();
    if (CommandLine::asksAboutProgram(std::span(argv, std::size_t(argc))))
        tellAboutProgram(argc, argv);
    QApplication application(argc, argv);
    usePlainNumbers();
    QApplication::setApplicationDisplayName(QStringLiteral("Spillway"));
    QApplication::setDesktopFileName(QStringLiteral("spillway"));

    const CommandLine commandLine = CommandLine::parse(QApplication::arguments());
    if (!commandLine.usageError.isEmpty()) {
        std::fprintf(stderr, "spillway: %s\n", qPrintable(commandLine.usageError));
        return 2;
    }
    ProfileFolders::closeNewFiles();
    const ProfileFolders folders = ProfileFolders::of(commandLine.profile);
    const auto logFeed = startLog(folders.state);

    SingleInstance instance(folders);
    switch (instance.claim(commandLine.modelFile)) {
    case SingleInstance::Outcome::First:
        break;
    case SingleInstance::Outcome::HandedOver:
        return 0;
    case SingleInstance::Outcome::Hung:
        return sayHung();
    }

    Program::prepare();
    Program program(commandLine, folders, logFeed, engine::make_engine, engine::inspect_model);
    QObject::connect(&instance, &SingleInstance::startedAgain, &application,
                     [&program](const QString& file) { program.onStartedAgain(file); });
    // The time begins here and not after exec(): the event loop may have something long to do when the window is gone.
    QObject::connect(
        &application, &QApplication::lastWindowClosed, &application, [] { endProcessAfter(kLongestEnd, 0); },
        Qt::SingleShotConnection);
    const int code = program.open() ? QApplication::exec() : 1;
    endProcessAfter(kLongestEnd, code);
    return code;
}
