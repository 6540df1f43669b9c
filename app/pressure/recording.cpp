#include "app/pressure/recording.h"

#include "app/pressure/placement_event_model.h"
#include "app/text/visible_text.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <type_traits>
#include <utility>

namespace {

constexpr QLatin1String kFormat("spillway-recording");
constexpr int kVersion = 1;
constexpr qsizetype kLongestName = 1000;
constexpr qsizetype kLongestKeptSentence = 200;
constexpr qsizetype kMostKeptMoves = 512;
constexpr double kMost = 1e18;  // of any number
constexpr auto kLastKind = engine::Event::Kind::Adapted;

// ---- the rows: each names its fields once, for writing and for reading ----

template <class Row, class Reading>
void readingFields(Row& row, Reading& reading)
{
    row.field(reading.known);
    for (const auto member :
         {&MemoryReading::weights, &MemoryReading::kv, &MemoryReading::scratch, &MemoryReading::others,
          &MemoryReading::free, &MemoryReading::total, &MemoryReading::budget, &MemoryReading::watermark})
        row.field(reading.*member);
}

template <class Row, class Sample>
void sampleFields(Row& row, Sample& sample)
{
    row.field(sample.seconds);
    row.field(sample.contextTokens);
    readingFields(row, sample.device);
    readingFields(row, sample.host);
    row.later(sample.device.state, sample.host.state);
    row.later(sample.device.experts);
}

template <class Row, class Point>
void pointFields(Row& row, Point& point)
{
    row.field(point.contextTokens);
    row.field(point.tokensPerSecond);
}

template <class Row, class Point>
void expertFields(Row& row, Point& point)
{
    row.field(point.contextTokens);
    row.field(point.hits);
    row.field(point.misses);
}

template <class Row, class Guess>
void guessFields(Row& row, Guess& guess)
{
    row.field(guess.contextTokens);
    row.field(guess.drafted);
    row.field(guess.accepted);
}

template <class Row, class Mark>
void markFields(Row& row, Mark& mark)
{
    row.field(mark.seconds);
    row.field(mark.contextTokens);
    row.choice(mark.kind, kLastKind);
}

template <class Row, class Answer>
void answerFields(Row& row, Answer& answer)
{
    row.field(answer.contextTokens);
    row.field(answer.ttftMs);
    row.field(answer.tpotMeanMs);
    row.field(answer.tpotP50Ms);
    row.field(answer.tpotP99Ms);
    row.field(answer.prefillTokensPerSecond);
    row.field(answer.decodeTokensPerSecond);
}

template <class Row, class Move>
void moveFields(Row& row, Move& move)
{
    row.field(move.ms);
    row.choice(move.event.kind, kLastKind);
    row.choice(move.event.cause, engine::Event::Cause::None);
    row.orNone(move.event.layer);
    row.field(move.event.tokens.first);
    row.field(move.event.tokens.last);
    row.field(move.event.blocks);
    row.field(move.event.bytes);
    row.field(move.event.duration_us);
    row.field(move.event.pinned);
    row.field(move.message);
    row.field(move.messages);
    row.text(move.event.sentence);
}

class RowWriter
{
public:
    template <class Number>
    void field(const Number& number)
    {
        array.append(QJsonValue(double(number)));
    }
    template <class Number>
    void field(const std::optional<Number>& number)
    {
        array.append(number ? QJsonValue(double(*number)) : QJsonValue());
    }
    /// Writes numbers that earlier versions did not know at the end of a row. They are left out where they and all
    /// after them are 0, so that earlier versions can read the row.
    template <class... Number>
    void later(const Number&... numbers)
    {
        m_skipped += int(sizeof...(numbers));
        if (!((numbers != 0) || ...))
            return;
        for (m_skipped -= int(sizeof...(numbers)); m_skipped > 0; --m_skipped)
            field(0);
        (field(numbers), ...);
    }
    void orNone(int number) { array.append(number >= 0 ? QJsonValue(number) : QJsonValue()); }
    template <class Enum>
    void choice(Enum value, Enum)
    {
        array.append(int(value));
    }
    void text(const std::string& text) { array.append(QString::fromStdString(text)); }

    QJsonArray array;

private:
    int m_skipped = 0;  // numbers left out so far, all of them 0
};

/// Reads fields one after another; a value of a wrong type or size makes the whole row bad.
class RowReader
{
public:
    explicit RowReader(const QJsonValue& row)
        : m_array(row.toArray())
    {
    }
    template <class Number>
    void field(Number& number)
    {
        take(m_array.at(m_at++), number);
    }
    template <class Number>
    void field(std::optional<Number>& number)
    {
        const QJsonValue value = m_array.at(m_at++);
        if (!value.isNull())
            take(value, number.emplace());
    }
    template <class... Number>
    void later(Number&... numbers)
    {
        if (m_at < m_array.size())
            (field(numbers), ...);
    }
    void orNone(int& number)
    {
        std::optional<int> known;
        field(known);
        number = known.value_or(-1);
    }
    template <class Enum>
    void choice(Enum& value, Enum last)
    {
        int number = 0;
        field(number);
        m_good = m_good && number <= int(last);
        value = m_good ? Enum(number) : last;
    }
    void text(std::string& text)
    {
        const QJsonValue value = m_array.at(m_at++);
        m_good = m_good && value.isString();
        text = VisibleText::of(value.toString().left(kLongestName)).toStdString();
    }
    /// Says whether every field was right and none is left over.
    bool good() const { return m_good && m_at == m_array.size(); }

private:
    template <class Number>
    void take(const QJsonValue& value, Number& to)
    {
        const double number = value.toDouble(NAN);
        double most = kMost;
        if constexpr (std::is_same_v<Number, int>)
            most = double(std::numeric_limits<int>::max());
        m_good = m_good && number >= 0 && number <= most;
        to = m_good ? Number(number) : Number();
    }

    const QJsonArray m_array;
    qsizetype m_at = 0;
    bool m_good = true;
};

/// Reads every row; false: one of them is wrong, or there are more than `most`.
template <class Take>
bool readRows(const QJsonValue& rows, qsizetype most, const Take& take)
{
    const QJsonArray array = rows.toArray();
    return array.size() <= most && std::all_of(array.begin(), array.end(), [&](const auto& entry) {
               RowReader row{QJsonValue(entry)};
               take(row);
               return row.good();
           });
}

/// Takes the rows that can be read: one that is wrong, or of a kind that only later versions know, is left out. False:
/// there are more than `most`.
template <class Entry, class Fields, class Keep>
bool keepGoodRows(const QJsonValue& rows, qsizetype most, const Fields& fields, const Keep& keep)
{
    const QJsonArray array = rows.toArray();
    if (array.size() > most)
        return false;
    for (const auto& value : array) {
        RowReader row{QJsonValue(value)};
        Entry entry;
        fields(row, entry);
        if (row.good())
            keep(entry);
    }
    return true;
}

/// Restores the runs; false: they are wrong. `experts`, `guesses`: one entry for each run, or empty: no run had any.
bool takeRuns(const QJsonArray& runs, const QJsonArray& experts, const QJsonArray& guesses, PressureHistory& history)
{
    const auto fits = [&](const QJsonArray& more) { return more.isEmpty() || more.size() == runs.size(); };
    if (runs.size() > PressureHistory::kMostRuns || !fits(experts) || !fits(guesses))
        return false;
    quint64 turn = 0;
    return std::all_of(runs.begin(), runs.end(), [&](const auto& entry) {
        PressureHistory::Run run{.turn = ++turn, .points = {}};
        const bool good = readRows(QJsonValue(entry), PressureHistory::kMostPoints,
                                   [&](RowReader& row) { pointFields(row, run.points.emplace_back()); }) &&
                          readRows(experts.at(qsizetype(turn) - 1), PressureHistory::kMostPoints,
                                   [&](RowReader& row) { expertFields(row, run.experts.emplace_back()); }) &&
                          readRows(guesses.at(qsizetype(turn) - 1), PressureHistory::kMostPoints,
                                   [&](RowReader& row) { guessFields(row, run.guesses.emplace_back()); });
        for (PressureHistory::GuessPoint& point : run.guesses)  // versions before may have counted more
            point.accepted = std::min(point.accepted, point.drafted);
        history.restore(run);
        return good;
    });
}

bool takeHistory(const QJsonObject& object, PressureHistory& history)
{
    return readRows(object.value(QLatin1String("samples")), PressureHistory::kMostSamples,
                    [&](RowReader& row) {
                        PressureHistory::Sample sample;
                        sampleFields(row, sample);
                        history.restore(sample);
                    }) &&
           takeRuns(object.value(QLatin1String("runs")).toArray(), object.value(QLatin1String("experts")).toArray(),
                    object.value(QLatin1String("guesses")).toArray(), history) &&
           keepGoodRows<PressureHistory::Mark>(
               object.value(QLatin1String("marks")), PressureHistory::kMostMarks,
               [](RowReader& row, PressureHistory::Mark& mark) { markFields(row, mark); },
               [&](const PressureHistory::Mark& mark) { history.restore(mark); });
}

bool takeMoves(const QJsonValue& rows, QList<PlacementMove>& moves)
{
    return keepGoodRows<PlacementMove>(
        rows, Recording::kMostMoves, [](RowReader& row, PlacementMove& move) { moveFields(row, move); },
        [&](const PlacementMove& move) {
            if (PlacementEventModel::kindOf(move.event.kind) && move.event.tokens.count() >= 0)
                moves.append(move);
        });
}

template <class Rows, class Fields>
QJsonArray written(const Rows& rows, const Fields& fields)
{
    QJsonArray array;
    for (qsizetype i = 0; i < qsizetype(rows.size()); ++i) {
        RowWriter row;
        fields(row, rows[i]);
        array.append(row.array);
    }
    return array;
}

/// Holds for each answer its speeds, reads of experts and guesses; the last two are empty where no answer had any.
struct WrittenRuns {
    QJsonArray speeds, experts, guesses;
};

WrittenRuns written(const std::deque<PressureHistory::Run>& runs)
{
    WrittenRuns all;
    bool read = false, guessed = false;
    for (const PressureHistory::Run& run : runs) {
        all.speeds.append(written(run.points, [](auto& row, auto& point) { pointFields(row, point); }));
        all.experts.append(written(run.experts, [](auto& row, auto& point) { expertFields(row, point); }));
        all.guesses.append(written(run.guesses, [](auto& row, auto& guess) { guessFields(row, guess); }));
        read = read || !run.experts.empty();
        guessed = guessed || !run.guesses.empty();
    }
    if (!read)
        all.experts = {};
    if (!guessed)
        all.guesses = {};
    return all;
}

}  // namespace

void Recording::add(const PlacementMove& move)
{
    if (moves.size() == kMostMoves)
        moves.remove(0, kMostMoves / 10);
    moves.append(move);
}

void Recording::add(const engine::Telemetry& lastFrame)
{
    Answer answer{.contextTokens = lastFrame.context_tokens,
                  .ttftMs = lastFrame.ttft_ms,
                  .tpotMeanMs = {},
                  .tpotP50Ms = {},
                  .tpotP99Ms = {},
                  .prefillTokensPerSecond = lastFrame.prefill_tokens_per_s,
                  .decodeTokensPerSecond = lastFrame.decode_tokens_per_s};
    if (lastFrame.tpot) {
        answer.tpotMeanMs = lastFrame.tpot->mean_ms;
        answer.tpotP50Ms = lastFrame.tpot->p50_ms;
        answer.tpotP99Ms = lastFrame.tpot->p99_ms;
    }
    if (answers.size() == kMostAnswers)
        answers.removeFirst();
    answers.append(answer);
}

Recording Recording::kept() const
{
    Recording kept = *this;
    kept.history = history.thinned();
    kept.moves = moves.mid(std::max<qsizetype>(0, moves.size() - kMostKeptMoves));
    for (PlacementMove& move : kept.moves)
        move.event.sentence = QString::fromStdString(move.event.sentence).left(kLongestKeptSentence).toStdString();
    return kept;
}

QByteArray Recording::toJson() const
{
    const auto [speeds, experts, guesses] = written(history.runs());
    QJsonObject object{
        {QStringLiteral("format"), kFormat},
        {QStringLiteral("version"), kVersion},
        {QStringLiteral("model"), model},
        {QStringLiteral("model_file"), modelFile},
        {QStringLiteral("model_since"), history.modelSince()},
        {QStringLiteral("model_first_run"), double(history.firstRun())},
        {QStringLiteral("device"), device},
        {QStringLiteral("made"), made.toString(Qt::ISODate)},
        {QStringLiteral("context_limit"), contextLimit},
        {QStringLiteral("spill_tokens"), spillTokens ? QJsonValue(*spillTokens) : QJsonValue()},
        {QStringLiteral("samples"), written(history.samples(), [](auto& row, auto& s) { sampleFields(row, s); })},
        {QStringLiteral("runs"), speeds},
        {QStringLiteral("marks"), written(history.marks(), [](auto& row, auto& m) { markFields(row, m); })},
        {QStringLiteral("answers"), written(answers, [](auto& row, auto& a) { answerFields(row, a); })},
        {QStringLiteral("moves"), written(moves, [](auto& row, auto& m) { moveFields(row, m); })}};
    if (!experts.isEmpty())
        object.insert(QStringLiteral("experts"), experts);
    if (!guesses.isEmpty())
        object.insert(QStringLiteral("guesses"), guesses);
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
    Recording recording;
    recording.model = name("model");
    recording.modelFile = name("model_file");
    recording.device = name("device");
    recording.made = QDateTime::fromString(name("made"), Qt::ISODate);
    recording.contextLimit = std::max(0, object.value(QLatin1String("context_limit")).toInt());
    if (const int tokens = object.value(QLatin1String("spill_tokens")).toInt(-1); tokens >= 0)
        recording.spillTokens = tokens;
    const bool good = takeHistory(object, recording.history) &&
                      keepGoodRows<Answer>(
                          object.value(QLatin1String("answers")), kMostAnswers,
                          [](RowReader& row, Answer& answer) { answerFields(row, answer); },
                          [&](const Answer& answer) { recording.answers.append(answer); }) &&
                      takeMoves(object.value(QLatin1String("moves")), recording.moves);
    recording.history.restoreModel(std::size_t(std::max(0, object.value(QLatin1String("model_first_run")).toInt())),
                                   std::max(0.0, object.value(QLatin1String("model_since")).toDouble()));
    return good ? std::optional(std::move(recording)) : std::nullopt;
}
