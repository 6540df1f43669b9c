#include "app/chat/latest_telemetry.h"

namespace {

QVariant orUndefined(const std::optional<double>& value)
{
    return value ? QVariant(*value) : QVariant();
}

}  // namespace

LatestTelemetry::LatestTelemetry(QObject* parent)
    : QObject(parent)
{
}

QVariant LatestTelemetry::ttftMs() const
{
    return orUndefined(m_frame.ttft_ms);
}

QVariant LatestTelemetry::tokensPerSecond() const
{
    return orUndefined(m_frame.decode_tokens_per_s);
}

void LatestTelemetry::show(const engine::Telemetry& frame)
{
    m_frame = frame;
    Q_EMIT changed();
}

void LatestTelemetry::reset(int contextLimit)
{
    m_frame = {};
    m_frame.context_limit = contextLimit;
    Q_EMIT changed();
}

#include "moc_latest_telemetry.cpp"
