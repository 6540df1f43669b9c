#include "app/log/log.h"

#include "app/system/profile_folders.h"

#include <QtGlobal>

#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/rotating_file_sink.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <chrono>
#include <string_view>
#include <utility>
#include <vector>

namespace {

constexpr std::size_t kFileBytes = 5 << 20;
constexpr std::size_t kFiles = 3;
constexpr std::size_t kLongestLine = 4096;  // in bytes, on the page; the file has the whole line

/// Passes lines on to the page.
class FeedSink : public spdlog::sinks::base_sink<std::mutex>
{
public:
    explicit FeedSink(std::shared_ptr<LogFeed> feed)
        : m_feed(std::move(feed))
    {
    }

protected:
    void sink_it_(const spdlog::details::log_msg& message) override
    {
        using namespace std::chrono;
        LogLine line;
        line.ms = duration_cast<milliseconds>(message.time.time_since_epoch()).count();
        line.level = qBound(0, int(message.level) - int(spdlog::level::debug), 3);
        const std::size_t size = std::min(message.payload.size(), kLongestLine);
        line.text = QString::fromUtf8(message.payload.data(), qsizetype(size));
        m_feed->add(std::move(line));
    }
    void flush_() override {}

private:
    std::shared_ptr<LogFeed> m_feed;
};

void takeQtMessage(QtMsgType type, const QMessageLogContext& context, const QString& message)
{
    const std::string text = message.toStdString();
    const char* const category = context.category ? context.category : "qt";
    if (type == QtWarningMsg && std::string_view(category) == "qt.qml.compiler")
        type = QtDebugMsg;  // about a library's JavaScript, which is not ours to change
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
    case QtFatalMsg:  // Qt aborts after a fatal message, which has to be on disk by then
        spdlog::error("{}: {}", category, text);
        spdlog::default_logger()->flush();
        break;
    }
}

}  // namespace

std::shared_ptr<LogFeed> startLog(const QString& folder)
{
    auto feed = std::make_shared<LogFeed>();
    std::vector<spdlog::sink_ptr> sinks = {std::make_shared<spdlog::sinks::stderr_color_sink_mt>(),
                                           std::make_shared<FeedSink>(feed)};
    sinks.front()->set_level(spdlog::level::warn);
    std::string trouble;
    if (!folder.isEmpty()) {
        try {
            ProfileFolders::make(folder);
            const std::string file = (folder + QStringLiteral("/spillway.log")).toStdString();
            sinks.push_back(std::make_shared<spdlog::sinks::rotating_file_sink_mt>(file, kFileBytes, kFiles));
        } catch (const spdlog::spdlog_ex& error) {
            trouble = error.what();
        }
    }
    auto logger = std::make_shared<spdlog::logger>("spillway", sinks.begin(), sinks.end());
    logger->set_pattern("%Y-%m-%d %H:%M:%S.%e %^%l%$ %v");
    logger->flush_on(spdlog::level::info);
    spdlog::set_default_logger(logger);
    qInstallMessageHandler(takeQtMessage);
    if (!trouble.empty())
        spdlog::warn("no log file: {}", trouble);
    return feed;
}

void setLogLevel(int level)
{
    spdlog::set_level(spdlog::level::level_enum(int(spdlog::level::debug) + qBound(0, level, 3)));
}
