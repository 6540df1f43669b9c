#include "app/monitor/recording.h"

#include "app/text/visible_text.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>

#include <array>
#include <cmath>

namespace {

constexpr QLatin1String kFormat("spillway-recording");
constexpr int kVersion = 1;
constexpr qsizetype kLongestName = 1000;
constexpr double kMost = 1e18;  // of any number

constexpr std::array kReadingFields = {&MemoryReading::weights, &MemoryReading::kv,       &MemoryReading::scratch,
                                       &MemoryReading::others,  &MemoryReading::free,     &MemoryReading::total,
                                       &MemoryReading::budget,  &MemoryReading::watermark};
constexpr qsizetype kSampleNumbers = 2 + 2 * (1 + qsizetype(kReadingFields.size()));

void append(QJsonArray& numbers, const MemoryReading& reading)
{
    numbers.append(reading.known ? 1 : 0);
    for (const auto field : kReadingFields)
        numbers.append(reading.*field);
}

/// Reads numbers one after another; anything that is none, or is beyond reason, spoils them all.
class Numbers
{
public:
    explicit Numbers(const QJsonArray& array)
        : m_array(array)
    {
    }
    double next()
    {
        const double value = m_array.at(m_at++).toDouble(NAN);
        if (!(value >= 0 && value <= kMost))
            m_good = false;
        return m_good ? value : 0;
    }
    int nextCount()
    {
        const double value = next();
        if (value > std::numeric_limits<int>::max())
            m_good = false;
        return m_good ? int(value) : 0;
    }
    MemoryReading nextReading()
    {
        MemoryReading reading;
        reading.known = next() != 0;
        for (const auto field : kReadingFields)
            reading.*field = next();
        return reading;
    }
    bool good() const { return m_good; }

private:
    const QJsonArray& m_array;
    qsizetype m_at = 0;
    bool m_good = true;
};

QJsonArray toJson(const PressureHistory::Run& run)
{
    QJsonArray points;
    for (const PressureHistory::SpeedPoint& point : run.points)
        points.append(QJsonArray{point.contextTokens, point.tokensPerSecond});
    return points;
}

bool takeSamples(const QJsonArray& samples, PressureHistory& history)
{
    if (samples.size() > PressureHistory::kMostSamples)
        return false;
    for (const auto& entry : samples) {
        const QJsonArray array = entry.toArray();
        if (array.size() != kSampleNumbers)
            return false;
        Numbers numbers(array);
        PressureHistory::Sample sample;
        sample.seconds = numbers.next();
        sample.contextTokens = numbers.nextCount();
        sample.device = numbers.nextReading();
        sample.host = numbers.nextReading();
        if (!numbers.good())
            return false;
        history.restore(sample);
    }
    return true;
}

bool takeRuns(const QJsonArray& runs, PressureHistory& history)
{
    if (runs.size() > PressureHistory::kMostRuns)
        return false;
    quint64 turn = 0;
    for (const auto& entry : runs) {
        PressureHistory::Run run{++turn, {}};
        const QJsonArray points = entry.toArray();
        if (points.size() > PressureHistory::kMostPoints)
            return false;
        for (const auto& one : points) {
            const QJsonArray array = one.toArray();
            Numbers numbers(array);
            const int tokens = numbers.nextCount();
            const double speed = numbers.next();
            if (array.size() != 2 || !numbers.good())
                return false;
            run.points.push_back({tokens, speed});
        }
        history.restore(run);
    }
    return true;
}

bool takeMarks(const QJsonArray& marks, PressureHistory& history)
{
    if (marks.size() > PressureHistory::kMostMarks)
        return false;
    for (const auto& entry : marks) {
        const QJsonArray array = entry.toArray();
        Numbers numbers(array);
        const double seconds = numbers.next();
        const int tokens = numbers.nextCount();
        const int kind = numbers.nextCount();
        if (array.size() != 3 || !numbers.good() || kind > int(engine::Event::Kind::Warning))
            return false;
        history.restore(PressureHistory::Mark{seconds, tokens, engine::Event::Kind(kind)});
    }
    return true;
}

}  // namespace

QByteArray Recording::toJson() const
{
    QJsonArray samples, runs, marks;
    for (qsizetype i = 0; i < history.samples().size(); ++i) {
        const PressureHistory::Sample& sample = history.samples()[i];
        QJsonArray numbers{sample.seconds, sample.contextTokens};
        append(numbers, sample.device);
        append(numbers, sample.host);
        samples.append(numbers);
    }
    for (const PressureHistory::Run& run : history.runs())
        runs.append(::toJson(run));
    for (qsizetype i = 0; i < history.marks().size(); ++i) {
        const PressureHistory::Mark& mark = history.marks()[i];
        marks.append(QJsonArray{mark.seconds, mark.contextTokens, int(mark.kind)});
    }
    const QJsonObject object{{QStringLiteral("format"), kFormat},
                             {QStringLiteral("version"), kVersion},
                             {QStringLiteral("model"), model},
                             {QStringLiteral("device"), device},
                             {QStringLiteral("made"), made.toString(Qt::ISODate)},
                             {QStringLiteral("context_limit"), contextLimit},
                             {QStringLiteral("samples"), samples},
                             {QStringLiteral("runs"), runs},
                             {QStringLiteral("marks"), marks}};
    return QJsonDocument(object).toJson(QJsonDocument::Compact);
}

std::optional<Recording> Recording::parse(const QByteArray& json)
{
    if (json.size() > kMostBytes)
        return {};
    const QJsonObject object = QJsonDocument::fromJson(json).object();
    if (object.value(QLatin1String("format")) != kFormat || object.value(QLatin1String("version")).toInt() != kVersion)
        return {};
    const auto name = [&](const char* key) {
        return VisibleText::of(object.value(QLatin1String(key)).toString().left(kLongestName));
    };
    const auto array = [&](const char* key) { return object.value(QLatin1String(key)).toArray(); };
    Recording recording;
    recording.model = name("model");
    recording.device = name("device");
    recording.made = QDateTime::fromString(name("made"), Qt::ISODate);
    recording.contextLimit = std::max(0, object.value(QLatin1String("context_limit")).toInt());
    if (!takeSamples(array("samples"), recording.history) || !takeRuns(array("runs"), recording.history) ||
        !takeMarks(array("marks"), recording.history))
        return {};
    return recording;
}
