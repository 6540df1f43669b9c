// The window: makes the program on the real engine and runs it.
#include "app/command_line.h"
#include "app/log.h"
#include "app/profile_folders.h"
#include "app/program.h"
#include "engine/engine.h"

#include <QApplication>

#include <cstdio>

int main(int argc, char* argv[])
{
    QApplication application(argc, argv);
    QApplication::setApplicationName(QStringLiteral("spillway"));
    QApplication::setApplicationDisplayName(QStringLiteral("Spillway"));
    QApplication::setOrganizationName(QStringLiteral("spillway"));
    QApplication::setApplicationVersion(QStringLiteral(SPILLWAY_VERSION));
    QApplication::setDesktopFileName(QStringLiteral("spillway"));

    const CommandLine commandLine = CommandLine::parse(QApplication::arguments());
    if (!commandLine.usageError.isEmpty()) {
        std::fprintf(stderr, "spillway: %s\n", qPrintable(commandLine.usageError));
        return 2;
    }
    const ProfileFolders folders = ProfileFolders::of(commandLine.profile);
    startLog(folders.state);
    Program::prepare();
    Program program(commandLine, folders, engine::make_engine, engine::inspect_model);
    return program.open() ? QApplication::exec() : 1;
}
