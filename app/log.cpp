#include "app/log.h"

#include "app/profile_folders.h"

#include <QString>
#include <QtGlobal>

#include <spdlog/sinks/rotating_file_sink.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <memory>

namespace {

constexpr std::size_t kFileBytes = 5 << 20;
constexpr std::size_t kFiles = 3;

void takeQtMessage(QtMsgType type, const QMessageLogContext& context, const QString& message)
{
    const std::string text = message.toStdString();
    const char* const category = context.category ? context.category : "qt";
    switch (type) {
    case QtDebugMsg:
        spdlog::debug("{}: {}", category, text);
        break;
    case QtInfoMsg:
        spdlog::info("{}: {}", category, text);
        break;
    case QtWarningMsg:
        spdlog::warn("{}: {}", category, text);
        break;
    case QtCriticalMsg:
    case QtFatalMsg:  // Qt aborts after a fatal one: it has to be on disk by then
        spdlog::error("{}: {}", category, text);
        spdlog::default_logger()->flush();
        break;
    }
}

}  // namespace

void startLog(const QString& folder)
{
    std::vector<spdlog::sink_ptr> sinks = {std::make_shared<spdlog::sinks::stderr_color_sink_mt>()};
    sinks.front()->set_level(spdlog::level::warn);
    std::string trouble;
    if (!folder.isEmpty() && ProfileFolders::make(folder)) {
        try {
            const std::string file = (folder + QStringLiteral("/spillway.log")).toStdString();
            sinks.push_back(std::make_shared<spdlog::sinks::rotating_file_sink_mt>(file, kFileBytes, kFiles));
        } catch (const spdlog::spdlog_ex& error) {
            trouble = error.what();
        }
    }
    auto logger = std::make_shared<spdlog::logger>("spillway", sinks.begin(), sinks.end());
    logger->set_pattern("%Y-%m-%d %H:%M:%S.%e %^%l%$ %v");
    logger->flush_on(spdlog::level::warn);
    spdlog::set_default_logger(logger);
    qInstallMessageHandler(takeQtMessage);
    if (!trouble.empty())
        spdlog::warn("no log file: {}", trouble);
}
