// Runs spillway-cli as a script would.
#pragma once

#include "tests/support/models.h"

#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QStringList>

namespace test_support {

/// Holds what came of one run.
struct Outcome {
    int code = -1;
    QByteArray out, err;
    QJsonObject json() const { return QJsonDocument::fromJson(out).object(); }
};

/// Runs it to its end. `data`: the folder of what is kept from one run to the next; none by default.
inline Outcome run_cli(const QStringList& arguments, const QByteArray& input = {}, const QString& kernels = {},
                       const QString& data = QStringLiteral("/nowhere"))
{
    QProcess process;
    auto environment = QProcessEnvironment::systemEnvironment();
    environment.insert("XDG_DATA_HOME", data);
    environment.insert("LOCALAPPDATA", data);
    environment.insert("SPILLWAY_MEASURE_SMALL_SETS", "1");
    if (!kernels.isEmpty())
        environment.insert("SPILLWAY_CPU", kernels);
    process.setProcessEnvironment(environment);
    process.start(SPILLWAY_CLI, arguments);
    process.write(input);
    process.closeWriteChannel();
    if (!process.waitForFinished(120'000) || process.exitStatus() != QProcess::NormalExit)
        return {};
    return {process.exitCode(), process.readAllStandardOutput(), process.readAllStandardError()};
}

/// A tiny model's file.
inline QString model(const char* name)
{
    return own_models_folder() + '/' + name + ".gguf";
}

}  // namespace test_support
