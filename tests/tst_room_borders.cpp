// Tests that no include or import line of any room crosses a border. The rule of the house is ui -> app -> engine ->
// kernels; the table of what each room may include is in HACKING.md. Within a room the folders stand on floors, and a
// file includes or imports nothing from a floor above its own: so no folders include each other in a circle. Tests look
// into every room, and their folders stand on floors as well.
#include <QDir>
#include <QDirIterator>
#include <QRegularExpression>
#include <QSet>
#include <QTest>

namespace {

const QStringList kSources = {"*.cpp", "*.h", "*.cu", "*.cuh", "*.qml"};

// Standard headers are words without folder or suffix: <vector>, <cstdint>.
bool isStandard(const QString& header)
{
    static const QRegularExpression word("^[a-z][a-z0-9_]*$");
    return word.match(header).hasMatch();
}

bool isAnyOf(const QString& header, std::initializer_list<const char*> names)
{
    return std::any_of(names.begin(), names.end(), [&](const char* name) { return header == QLatin1String(name); });
}

bool startsWithAnyOf(const QString& header, std::initializer_list<const char*> beginnings)
{
    return std::any_of(beginnings.begin(), beginnings.end(),
                       [&](const char* beginning) { return header.startsWith(QLatin1String(beginning)); });
}

bool isQt(const QString& header)
{
    static const QRegularExpression qt("^(Qt[A-Z][A-Za-z0-9]*/)?(Q[A-Za-z0-9]+|q[a-z0-9]+\\.h)$");
    return qt.match(header).hasMatch();
}

// Files named for one system may use its headers; nothing else may.
bool isPlatformHeader(const QString& path, const QString& header)
{
    static const QRegularExpression platformFile("_(linux|windows)\\.cpp$");
    static const QRegularExpression platformHeader("^([a-z0-9_]+/)*[a-z0-9_]+\\.h$");
    return platformFile.match(path).hasMatch() && platformHeader.match(header).hasMatch() && !isQt(header) &&
           !startsWithAnyOf(header, {"engine/", "kernels/", "app/", "tests/"});
}

bool kernelsMayInclude(const QString& path, const QString& header)
{
    if (isAnyOf(header, {"thread", "mutex", "shared_mutex", "condition_variable", "future", "semaphore", "latch",
                         "barrier", "fstream", "filesystem", "iostream", "ostream", "istream", "cstdio", "syncstream"}))
        return false;
    if (isAnyOf(header, {"immintrin.h", "x86intrin.h", "cpuid.h", "intrin.h"}))
        return path.startsWith("kernels/cpu/");
    if (isAnyOf(header, {"cuda_fp16.h", "cuda_bf16.h", "cuda_fp8.h", "cuda_pipeline.h", "mma.h"}))
        return path == "kernels/cuda/device.h";
    return isStandard(header) || header.startsWith("kernels/");
}

bool engineMayInclude(const QString& header)
{
    if (header == "iostream")
        return false;  // the engine does not print
    static const QRegularExpression cudaDoor("^kernels/cuda/[a-z0-9_]+\\.h$");
    return isStandard(header) || startsWithAnyOf(header, {"engine/", "tl/", "nlohmann/"}) ||
           isAnyOf(header, {"kernels/cpu.h", "kernels/kv_block.h", "kernels/read_ahead_choice.h", "kernels/types.h",
                            "pcre2.h"}) ||
           cudaDoor.match(header).hasMatch();
}

// Tells Qt Core and Gui from other modules by how the names of theirs begin.
bool isQtCoreOrGui(const QString& header)
{
    return isQt(header) && !startsWithAnyOf(header, {"QQ", "QtQml", "QtQuick", "QtWidgets", "QtNetwork", "QtSvg",
                                                     "QApplication", "QWidget", "QNetwork", "QJS", "QSvg"});
}

// Says whether this is what moc makes of a file of the same folder.
bool isMadeByMoc(const QString& header)
{
    static const QRegularExpression made("^[a-z0-9_]+\\.moc$|^moc_[a-z0-9_]+\\.cpp$");
    return made.match(header).hasMatch();
}

bool textMayInclude(const QString& header)
{
    return header.startsWith("app/text/") || header == "md4c.h" || isQtCoreOrGui(header);
}

bool formulasMayInclude(const QString& path, const QString& header)
{
    return isStandard(header) || isMadeByMoc(header) || header.startsWith("app/formulas/") || isQtCoreOrGui(header) ||
           isAnyOf(header, {"QJSEngine", "QJSValue", "QSvgRenderer"}) ||
           (header == "QtQml/qqmlregistration.h" && path == "app/formulas/formulas.h");
}

bool appMayInclude(const QString& path, const QString& header)
{
    static const QRegularExpression engineDoor("^engine/[a-z0-9_]+\\.h$");
    if (path.startsWith("app/formulas/"))
        return formulasMayInclude(path, header);
    if (isStandard(header) || engineDoor.match(header).hasMatch())
        return true;
    if (path.startsWith("app/secrets/"))
        return header.startsWith("app/secrets/");
    if (path.startsWith("app/net/"))
        return startsWithAnyOf(header, {"app/net/", "app/secrets/", "nlohmann/"}) ||
               (header == "curl/curl.h" && isAnyOf(path, {"app/net/http_client.cpp", "app/net/url.cpp"}));
    if (path.startsWith("app/remote/"))
        return startsWithAnyOf(header, {"app/remote/", "app/net/", "app/secrets/", "nlohmann/"});
    if (path.startsWith("app/cli/"))
        return startsWithAnyOf(header, {"app/cli/", "app/net/", "app/remote/", "app/secrets/", "CLI/", "nlohmann/"}) ||
               header == "app/server/server.h";
    if (path.startsWith("app/server/"))
        return startsWithAnyOf(header, {"app/server/", "nlohmann/"});
    if (path.startsWith("app/text/"))
        return textMayInclude(header);
    if (header == "qcustomplot.h")
        return path == "app/charts/custom_plot.h";
    // Only these headers of the server may be included by the window's code, and only in these places.
    if (isAnyOf(header, {"app/server/server.h", "app/server/shared_engine.h", "app/server/request_log.h"}))
        return path.startsWith("app/serving/") || path.startsWith("app/program.");
    return isQt(header) || isMadeByMoc(header) || header.startsWith("spdlog/") ||
           (header.startsWith("app/") && !startsWithAnyOf(header, {"app/cli/", "app/server/"}));
}

bool isTest(const QString& path)
{
    return path.startsWith("tests/");
}

bool mayInclude(const QString& path, const QString& header)
{
    if (isPlatformHeader(path, header))
        return true;
    if (path.startsWith("kernels/"))
        return kernelsMayInclude(path, header);
    if (path.startsWith("engine/"))
        return engineMayInclude(header);
    if (path.startsWith("app/"))
        return appMayInclude(path, header);
    if (isTest(path))
        return true;
    return false;  // ui holds no C++
}

// The folders of a room, the lowest floor first. A file may include what lies in its own folder or on a lower floor.
struct Floors {
    QString room;
    QStringList folders;
};

// The headers lying directly in engine/ are the ground floor there: every folder includes them, and they include only
// each other. What implements them lies higher, in the folder where it finds what it needs. In app and ui the top level
// puts all together. The folders of tests stand like those that they test, above what several of them share.
const QList<Floors>& roomsWithFloors()
{
    static const QList<Floors> rooms = {
        {"kernels",
         {"kernels", "kernels/cpu", "kernels/cpu/scalar", "kernels/cpu/avx2", "kernels/cpu/avxvnni",
          "kernels/cpu/avx512", "kernels/cpu/amx", "kernels/cpu/dispatch", "kernels/cuda", "kernels/cuda/checks"}},
        {"engine",
         {"engine", "engine/files", "engine/metrics", "engine/device", "engine/gguf", "engine/tokenizer",
          "engine/grammar", "engine/template", "engine/shape", "engine/model", "engine/kv", "engine/exec",
          "engine/sampling", "engine/plan", "engine/run", "engine/tools"}},
        {"app",
         {"app/server",
          "app/secrets",
          "app/net",
          "app/remote",
          "app/cli",
          "app/text",
          "app/formulas",
          "app/numbers",
          "app/system",
          "app/worker",
          "app/settings",
          "app/log",
          "app/about",
          "app/blocks",
          "app/store",
          "app/attachments/pdf_text",
          "app/attachments",
          "app/catalogue",
          "app/chat",
          "app/fetching",
          "app/servers",
          "app/serving",
          "app/tuning",
          "app/pressure",
          "app/exchange",
          "app/conversations",
          "app/experiments",
          "app/charts",
          "app"}},
        {"ui",
         {"ui/theme", "ui/components", "ui/attachments", "ui/tuning", "ui/models", "ui/monitor", "ui/chat",
          "ui/conversations", "ui/fetching", "ui/settings", "ui/serving", "ui/experiments", "ui/log", "ui/about",
          "ui/shortcuts", "ui"}},
        {"tests",
         {"tests/support/cuda",
          "tests/support/net",
          "tests/support",
          "tests/kernels",
          "tests/kernels/cuda",
          "tests/engine/files",
          "tests/engine/metrics",
          "tests/engine/device",
          "tests/engine/gguf",
          "tests/engine/tokenizer",
          "tests/engine/grammar",
          "tests/engine/template",
          "tests/engine/shape",
          "tests/engine/model",
          "tests/engine/kv",
          "tests/engine/exec",
          "tests/engine/sampling",
          "tests/engine/plan",
          "tests/engine/run",
          "tests/engine/tools",
          "tests/engine",
          "tests/app/server",
          "tests/app/secrets",
          "tests/app/net",
          "tests/app/remote",
          "tests/app/cli",
          "tests/app/text",
          "tests/app/formulas",
          "tests/app/numbers",
          "tests/app/system",
          "tests/app/worker",
          "tests/app/settings",
          "tests/app/log",
          "tests/app/about",
          "tests/app/blocks",
          "tests/app/store",
          "tests/app/attachments",
          "tests/app/catalogue",
          "tests/app/chat",
          "tests/app/fetching",
          "tests/app/servers",
          "tests/app/serving",
          "tests/app/tuning",
          "tests/app/pressure",
          "tests/app/exchange",
          "tests/app/conversations",
          "tests/app/experiments",
          "tests/app/charts",
          "tests/app",
          "tests/ui",
          "tests/ui/theme",
          "tests/ui/components",
          "tests/ui/shortcuts",
          "tests/ui/settings",
          "tests/ui/attachments",
          "tests/ui/tuning",
          "tests/ui/conversations",
          "tests/ui/chat",
          "tests/ui/fetching",
          "tests/ui/models",
          "tests/ui/monitor",
          "tests/ui/serving",
          "tests/ui/experiments",
          "tests/ui/window",
          "tests/ui/bench",
          "tests/packaging",
          "tests/guide",
          "tests/bench",
          "tests/fuzz",
          "tests"}},
    };
    return rooms;
}

QString folderOf(const QString& path)
{
    return path.section('/', 0, -2);
}

QString roomOf(const QString& path)
{
    return path.section('/', 0, 0);
}

// A folder that is not listed is on no floor: nothing may include it, and it may include nothing of its room.
bool mayIncludeOnFloors(const QStringList& folders, const QString& path, const QString& header)
{
    const qsizetype own = folders.indexOf(folderOf(path));
    const qsizetype other = folders.indexOf(folderOf(header));
    return own >= 0 && other >= 0 && other <= own;
}

bool mayIncludeWithinRoom(const QString& path, const QString& header)
{
    if (roomOf(path) != roomOf(header))
        return true;  // the room's own rules judge what crosses its border
    for (const Floors& floors : roomsWithFloors())
        if (floors.room == roomOf(path))
            return mayIncludeOnFloors(floors.folders, path, header);
    return true;
}

// The file that makes a module of ui of its folder: ui/chat/qmldir for Spillway.Ui.Chat. Other modules stay as they
// are.
QString fileOfModule(const QString& module)
{
    const QString ui = "Spillway.Ui.";
    return module.startsWith(ui) ? "ui/" + module.mid(ui.size()).toLower() + "/qmldir" : module;
}

// The lines of a source file that its room or its floor forbids, as "path:line: text".
QStringList trespasses(const QString& path, const QString& text)
{
    static const QRegularExpression include("^\\s*#\\s*include\\s*[<\"]([^>\"]+)[>\"]");
    static const QRegularExpression includeOfMacro("^\\s*#\\s*include\\s*[^<\"\\s]");
    static const QRegularExpression import("^\\s*import\\s+(\\S+)");
    static const QRegularExpression importAllowed("^(QtQuick(\\.[A-Za-z.]+)?|Spillway\\.[A-Za-z.]+)$");

    QStringList found;
    const QStringList lines = text.split('\n');
    for (qsizetype i = 0; i < lines.size(); ++i) {
        const QString& line = lines[i];
        bool bad = line.contains("setContextProperty") && !isTest(path);
        if (path.endsWith(".qml")) {
            const auto match = import.match(line);
            bad |= match.hasMatch() && !isTest(path) && !importAllowed.match(match.captured(1)).hasMatch();
            bad |= match.hasMatch() && !mayIncludeWithinRoom(path, fileOfModule(match.captured(1)));
        } else {
            const auto match = include.match(line);
            bad |= match.hasMatch() && !mayInclude(path, match.captured(1));
            bad |= match.hasMatch() && !mayIncludeWithinRoom(path, match.captured(1));
            bad |= includeOfMacro.match(line).hasMatch();
        }
        if (bad)
            found << QString("%1:%2: %3").arg(path).arg(i + 1).arg(line.trimmed());
    }
    return found;
}

}  // namespace

class RoomBordersTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void checkerKnowsTheBorders_data();
    void checkerKnowsTheBorders();
    void everyFileKeepsToItsRoom_data();
    void everyFileKeepsToItsRoom();
    void everyFolderStandsOnAFloor_data();
    void everyFolderStandsOnAFloor();
    void uiHoldsNoCpp();
};

void RoomBordersTest::checkerKnowsTheBorders_data()
{
    QTest::addColumn<QString>("path");
    QTest::addColumn<QString>("line");
    QTest::addColumn<bool>("allowed");
    const auto row = [](const char* path, const char* line, bool allowed) {
        QTest::addRow("%s: %s", path, line) << path << line << allowed;
    };

    row("kernels/cpu/scalar/rope.cpp", "#include \"kernels/cpu.h\"", true);
    row("kernels/cpu/scalar/rope.cpp", "#include <cmath>", true);
    row("kernels/cpu/avx2/rope.cpp", "#include <immintrin.h>", true);
    row("kernels/cpu/dispatch/cpu_features_linux.cpp", "#include <sys/syscall.h>", true);
    row("kernels/cpu/dispatch/cpu_features.cpp", "#include <sys/syscall.h>", false);
    row("kernels/cpu/dispatch/dispatch.cpp", "#include \"engine/result.h\"", false);
    row("kernels/cpu/dispatch/dispatch.cpp", "  #  include <engine/result.h>", false);
    row("kernels/cpu/dispatch/dispatch.cpp", "#include <thread>", false);
    row("kernels/cpu/dispatch/dispatch.cpp", "#include <fstream>", false);
    row("kernels/cpu/dispatch/dispatch.cpp", "#include <spdlog/spdlog.h>", false);
    row("kernels/cpu/dispatch/dispatch.cpp", "#include <QString>", false);
    row("kernels/cuda/rope.cu", "#include <cuda_fp16.h>", false);
    row("kernels/cuda/device.h", "#include <cuda_fp16.h>", true);
    row("kernels/cuda/rope.cu", "#include \"kernels/cuda/device.h\"", true);
    row("kernels/cuda/rope.cpp", "#include <cuda.h>", false);
    row("kernels/cuda/rope.cu", "#include \"tests/support/cuda/grid.h\"", false);
    row("kernels/cuda/driver_linux.cpp", "#include <dlfcn.h>", true);
    row("kernels/cuda/driver.cpp", "#include <dlfcn.h>", false);
    row("kernels/cpu/dispatch/dispatch.cpp", "#include \"kernels/cpu/amx/amx.h\"", true);
    row("kernels/cpu/amx/table.cpp", "#include \"kernels/cpu/dispatch/cpu_features.h\"", false);
    row("kernels/cpu/amx/table.cpp", "#include \"kernels/cpu/avx512/slots.h\"", true);
    row("kernels/cpu/avx512/table.cpp", "#include \"kernels/cpu/amx/amx.h\"", false);
    row("kernels/cuda/ops.h", "#include \"kernels/cuda/checks/compare.h\"", false);
    row("kernels/cuda/checks/compare.h", "#include \"kernels/cuda/ops.h\"", true);

    row("app/chat/chat_controller.cpp", "#include \"app/store/conversation.h\"", true);
    row("app/chat/chat_controller.cpp", "#include \"app/pressure/doctor.h\"", false);
    row("app/store/rows.cpp", "#include \"app/program.h\"", false);
    row("app/program.cpp", "#include \"app/charts/speed_chart.h\"", true);

    row("engine/gguf/gguf_file.cpp", "#include \"engine/gguf/gguf_file.h\"", true);
    row("engine/gguf/gguf_file.cpp", "#include \"kernels/types.h\"", true);
    row("engine/gguf/gguf_file.cpp", "#include <tl/expected.hpp>", true);
    row("engine/template/value.cpp", "#include <nlohmann/json.hpp>", true);
    row("engine/tokenizer/pattern.cpp", "#include <pcre2.h>", true);
    row("engine/files/mapped_file_linux.cpp", "#include <sys/mman.h>", true);
    row("engine/files/mapped_file_windows.cpp", "#include <windows.h>", true);
    row("engine/files/mapped_file.cpp", "#include <sys/mman.h>", false);
    row("engine/files/mapped_file_linux.cpp", "#include \"app/main.h\"", false);
    row("engine/files/mapped_file_linux.cpp", "#include <qstring.h>", false);
    row("engine/exec/cpu_backend.cpp", "#include \"kernels/cpu/avx2/matmul.h\"", false);
    row("engine/exec/cpu_backend.cpp", "#include <immintrin.h>", false);
    row("engine/exec/cuda_backend.cpp", "#include \"kernels/cuda/ops.h\"", true);
    row("engine/run/turn.cpp", "#include \"engine/sampling/sampler.h\"", true);
    row("engine/run/turn.cpp", "#include \"engine/tools/token_run.h\"", false);
    row("engine/kv/kv_pager.cpp", "#include \"engine/run/turn.h\"", false);
    row("engine/kv/kv_pager.cpp", "#include <engine/exec/backend.h>", false);
    row("engine/kv/kv_pager.cpp", "#include \"engine/engine.h\"", true);
    row("engine/engine.h", "#include \"engine/result.h\"", true);
    row("engine/engine.h", "#include \"engine/kv/kv_shape.h\"", false);
    row("engine/tools/bench.cpp", "#include \"engine/unlisted/thing.h\"", false);
    row("engine/unlisted/thing.cpp", "#include \"engine/result.h\"", false);
    row("engine/kv/unlisted/thing.cpp", "#include \"engine/kv/kv_shape.h\"", false);
    row("engine/engine.h", "#include <QObject>", false);
    row("engine/engine.h", "#include <QtCore/QObject>", false);
    row("engine/engine.h", "#include \"app/worker/engine_worker.h\"", false);
    row("engine/engine.h", "#include \"tests/support/fake_engine.h\"", false);
    row("engine/engine.h", "#include <iostream>", false);
    row("engine/engine.h", "#include \"result.h\"", false);

    row("app/charts/custom_plot.h", "#include <qcustomplot.h>", true);
    row("app/charts/chart_item.cpp", "#include <qcustomplot.h>", false);
    row("app/log/log_model.cpp", "#include <qcustomplot.h>", false);
    row("app/text/block.h", "#include <QStringView>", true);
    row("app/text/block.h", "#include \"engine/reasoning_marks.h\"", true);
    row("app/text/block.h", "#include <QtQml/qqmlregistration.h>", false);
    row("app/text/block.h", "#include <QQuickItem>", false);
    row("app/text/markdown.cpp", "#include <md4c.h>", true);
    row("app/text/markdown.cpp", "#include \"app/formulas/katex.h\"", false);
    row("app/text/markdown.cpp", "#include <spdlog/spdlog.h>", false);
    row("app/formulas/katex.h", "#include <QJSEngine>", true);
    row("app/formulas/katex.h", "#include <QQmlEngine>", false);
    row("app/formulas/katex.cpp", "#include \"app/text/maths.h\"", false);
    row("app/formulas/katex.cpp", "#include \"engine/engine.h\"", false);
    row("app/formulas/formulas.h", "#include <QtQml/qqmlregistration.h>", true);
    row("app/main.cpp", "#include <QApplication>", true);
    row("app/main.cpp", "#include <QtQml/qqmlregistration.h>", true);
    row("app/main.cpp", "#include <qqmlregistration.h>", true);
    row("app/main.cpp", "#include \"engine/engine.h\"", true);
    row("app/main.cpp", "#include \"app/chat/chat_controller.h\"", true);
    row("app/main.cpp", "#include <spdlog/spdlog.h>", true);
    row("app/main.cpp", "#include \"engine/gguf/gguf_file.h\"", false);
    row("app/main.cpp", "#include \"kernels/cpu.h\"", false);
    row("app/main.cpp", "#include \"app/cli/system.h\"", false);
    row("app/main.cpp", "#include \"tests/support/fake_engine.h\"", false);
    row("app/main.cpp", "#include CONFIG_HEADER", false);
    row("app/main.cpp", "    engine.rootContext()->setContextProperty(\"chat\", &chat);", false);
    row("app/cli/main.cpp", "#include <CLI/CLI.hpp>", true);
    row("app/cli/main.cpp", "#include \"app/cli/run.h\"", true);
    row("app/cli/main.cpp", "#include \"engine/engine.h\"", true);
    row("app/net/http_client.cpp", "#include <curl/curl.h>", true);
    row("app/net/transfer.cpp", "#include <curl/curl.h>", false);
    row("app/net/url.h", "#include <curl/curl.h>", false);
    row("app/net/part_state.cpp", "#include <nlohmann/json.hpp>", true);
    row("app/net/sha256_linux.cpp", "#include <openssl/evp.h>", true);
    row("app/net/transfer.cpp", "#include <openssl/evp.h>", false);
    row("app/net/transfer.cpp", "#include \"engine/gguf/gguf_file.h\"", false);
    row("app/net/transfer.cpp", "#include \"app/cli/command.h\"", false);
    row("app/net/transfer.cpp", "#include <QString>", false);
    row("app/net/transfer.cpp", "#include <CLI/CLI.hpp>", false);
    row("app/cli/pull.cpp", "#include \"app/net/fetch_file.h\"", true);
    row("app/cli/main.cpp", "#include <QString>", false);
    row("app/cli/serve.cpp", "#include \"app/server/server.h\"", true);
    row("app/cli/serve.cpp", "#include \"app/server/http_server.h\"", false);
    row("app/server/api.cpp", "#include <nlohmann/json.hpp>", true);
    row("app/server/api.cpp", "#include \"engine/engine.h\"", true);
    row("app/server/api.cpp", "#include \"engine/run/turn.h\"", false);
    row("app/server/api.cpp", "#include <QString>", false);
    row("app/server/api.cpp", "#include <sys/socket.h>", false);
    row("app/server/socket_linux.cpp", "#include <sys/socket.h>", true);
    row("app/server/api.cpp", "#include \"app/cli/command.h\"", false);
    row("app/chat/chat_controller.cpp", "#include \"app/server/server.h\"", false);
    row("app/serving/server_controller.cpp", "#include \"app/server/server.h\"", true);
    row("app/serving/server_controller.cpp", "#include \"app/server/api.h\"", false);
    row("app/program.h", "#include \"app/server/shared_engine.h\"", true);
    row("app/cli/main.cpp", "#include \"app/worker/engine_worker.h\"", false);

    row("ui/chat/ChatPage.qml", "import QtQuick", true);
    row("ui/chat/ChatPage.qml", "import QtQuick.Controls", true);
    row("ui/chat/ChatPage.qml", "import Spillway.App", true);
    row("ui/chat/ChatPage.qml", "import \"../components\"", false);
    row("ui/chat/ChatPage.qml", "import Qt.labs.settings", false);
    row("ui/chat/ChatPage.qml", "import \"logic.js\" as Logic", false);
    row("ui/chat/ChatPage.qml", "import Spillway.Ui.Components", true);
    row("ui/chat/ChatPage.qml", "import Spillway.Ui.Chat", true);
    row("ui/chat/ChatPage.qml", "import Spillway.Ui.Fetching", false);
    row("ui/chat/ChatPage.qml", "import Spillway.Ui.Unlisted", false);
    row("ui/theme/Theme.qml", "import Spillway.Ui.Components", false);
    row("ui/Shell.qml", "import Spillway.Ui.Chat", true);
    row("ui/chat/page.cpp", "#include <QQuickItem>", false);

    row("tests/support/models.h", "#include \"engine/engine.h\"", true);
    row("tests/support/models.h", "#include \"tests/engine/run/one_turn.h\"", false);
    row("tests/engine/run/one_turn.h", "#include \"tests/support/models.h\"", true);
    row("tests/engine/run/one_turn.h", "#include \"engine/run/turn.h\"", true);
    row("tests/engine/kv/tst_kv_pager.cpp", "#include \"tests/engine/run/one_turn.h\"", false);
    row("tests/ui/window/tst_shell.qml", "import QtTest", true);
}

void RoomBordersTest::checkerKnowsTheBorders()
{
    QFETCH(QString, path);
    QFETCH(QString, line);
    QFETCH(bool, allowed);
    const QStringList found = trespasses(path, "// a head line\n" + line + "\n\nint x;\n");
    QCOMPARE(found.isEmpty(), allowed);
    if (!allowed)
        QCOMPARE(found.first(), QString("%1:2: %2").arg(path, line.trimmed()));
}

void RoomBordersTest::everyFileKeepsToItsRoom_data()
{
    QTest::addColumn<QString>("room");
    for (const char* room : {"kernels", "engine", "app", "ui", "tests"})
        QTest::newRow(room) << room;
}

void RoomBordersTest::everyFileKeepsToItsRoom()
{
    QFETCH(QString, room);
    const QDir house(SPILLWAY_SOURCE_DIR);
    QDirIterator files(house.filePath(room), kSources, QDir::Files, QDirIterator::Subdirectories);
    int read = 0;
    QStringList found;
    while (files.hasNext()) {
        QFile file(files.next());
        QVERIFY2(file.open(QIODevice::ReadOnly), qPrintable(file.fileName()));
        found << trespasses(house.relativeFilePath(file.fileName()), QString::fromUtf8(file.readAll()));
        ++read;
    }
    QVERIFY2(read > 0, "no source file was found");
    QVERIFY2(found.isEmpty(), qPrintable("forbidden lines:\n" + found.join('\n')));
}

void RoomBordersTest::everyFolderStandsOnAFloor_data()
{
    QTest::addColumn<QString>("room");
    QTest::addColumn<QStringList>("folders");
    for (const Floors& floors : roomsWithFloors())
        QTest::newRow(qPrintable(floors.room)) << floors.room << floors.folders;
}

// A folder that is new gets its floor in the list, and one that is gone leaves it.
void RoomBordersTest::everyFolderStandsOnAFloor()
{
    QFETCH(QString, room);
    QFETCH(QStringList, folders);
    const QDir house(SPILLWAY_SOURCE_DIR);
    QDirIterator files(house.filePath(room), kSources, QDir::Files, QDirIterator::Subdirectories);
    QSet<QString> found;
    while (files.hasNext())
        found.insert(folderOf(house.relativeFilePath(files.next())));
    const QSet<QString> listed(folders.begin(), folders.end());
    const QStringList missing = (found - listed).values();
    const QStringList gone = (listed - found).values();
    QVERIFY2(missing.isEmpty(), qPrintable("folders without a floor: " + missing.join(", ")));
    QVERIFY2(gone.isEmpty(), qPrintable("floors of folders that are gone: " + gone.join(", ")));
    QCOMPARE(listed.size(), folders.size());  // no folder stands on two floors
}

void RoomBordersTest::uiHoldsNoCpp()
{
    QDirIterator files(QString(SPILLWAY_SOURCE_DIR) + "/ui", {"*.cpp", "*.h"}, QDir::Files,
                       QDirIterator::Subdirectories);
    QVERIFY2(!files.hasNext(), qPrintable(files.next()));
}

QTEST_GUILESS_MAIN(RoomBordersTest)
#include "tst_room_borders.moc"
