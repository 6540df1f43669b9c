#include "app/text/reasoning.h"

#include "engine/reasoning_marks.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace {

QString fromUtf8(std::string_view text)
{
    return QString::fromUtf8(text.data(), qsizetype(text.size()));
}

struct Mark {
    QString open;
    QString close;
};

/// Returns the marks around reasoning; the last ones are Muse Glimmer's and gpt-oss's, whose answers begin with one of
/// the silent marks below.
const std::vector<Mark>& marks()
{
    static const std::vector<Mark> all = [] {
        std::vector<Mark> marks;
        for (const engine::ReasoningMark& mark : engine::kReasoningMarks)
            marks.push_back({fromUtf8(mark.open), fromUtf8(mark.close)});
        marks.push_back({fromUtf8(engine::RecipientMarks::kThought), fromUtf8(engine::RecipientMarks::kEnd)});
        const QString end = QStringLiteral("<|end|>");
        marks.push_back({QStringLiteral("<|channel|>analysis<|message|>"), end});
        marks.push_back({QStringLiteral("<|start|>assistant<|channel|>analysis<|message|>"), end});
        return marks;
    }();
    return all;
}

// gpt-oss may say before its answer what it is about to do. That is a part of the answer, and has marks of its own.
constexpr std::array kCommentary = {
    QStringView(u"<|start|>assistant<|channel|>commentary<|message|>"),
    QStringView(u"<|channel|>commentary<|message|>"),
};
constexpr QStringView kCommentaryEnd = u"<|end|>";

// Marks that say where the answer is and are no part of it.
constexpr std::array kSilent = {
    QStringView(u"<|start|>assistant<|channel|>final<|message|>"),
    QStringView(u"<|channel|>final<|message|>"),
    QStringView(u"<|start|>assistant to=user<|message|>"),
    QStringView(u"<|START_RESPONSE|>"),
    QStringView(u"<|END_RESPONSE|>"),
};

// Hunyuan, ERNIE and Granite 3.3 put these tags around the answer after reasoning; elsewhere they are text.
constexpr std::array kAroundAnswer = {
    std::pair(QStringView(u"<answer>"), QStringView(u"</answer>")),
    std::pair(QStringView(u"<response>"), QStringView(u"</response>")),
};

constexpr QStringView kFirstOfMarks = u"<[◁";

constexpr qsizetype kFenceLine = 80;  // characters of a line that are kept to tell whether it is a fence

qsizetype fenceLength(QStringView line)
{
    if (line.isEmpty() || (line[0] != u'`' && line[0] != u'~'))
        return 0;
    qsizetype size = 1;
    while (size < line.size() && line[size] == line[0])
        ++size;
    return size < 3 || (line[0] == u'`' && line.sliced(size).contains(u'`')) ? 0 : size;
}

}  // namespace

std::vector<ReasoningMarks::Part> ReasoningMarks::add(QStringView piece)
{
    std::vector<Part> parts;
    for (const QChar c : piece)
        character(c, parts);
    return parts;
}

std::vector<ReasoningMarks::Part> ReasoningMarks::end()
{
    std::vector<Part> parts;
    release(parts);
    return parts;
}

void ReasoningMarks::character(QChar c, std::vector<Part>& parts)
{
    if (!m_close.isEmpty()) {
        m_held += c;
        qsizetype text = 0;
        while (!QStringView(m_close).startsWith(QStringView(m_held).sliced(text)))
            ++text;
        if (text > 0) {
            put(QStringView(m_held).first(text), parts);
            m_held.remove(0, text);
        }
        if (m_held == m_close)
            close(parts);
        return;
    }
    const bool mayBegin = m_lineStart && m_fence.isEmpty() && kFirstOfMarks.contains(c);
    if (!m_held.isEmpty() || mayBegin || (!m_answerEnd.isEmpty() && m_fence.isEmpty() && c == m_answerEnd[0])) {
        if (m_held.isEmpty())
            m_inLine = !mayBegin;
        m_held += c;
        if (wholeMark(parts) || beginningOfMark())
            return;
        release(parts);
        return;
    }
    put(QStringView(&c, 1), parts);
}

/// Closes the open reasoning or commentary, whose end mark has come.
void ReasoningMarks::close(std::vector<Part>& parts)
{
    m_held.clear();
    m_close.clear();
    if (std::exchange(m_commentary, false))
        put(u"\n\n", parts);
    else
        parts.push_back({Part::Kind::End});
    m_line.clear();
    m_fence.clear();
    m_lineStart = true;
}

/// Says whether the held text is a whole mark; if so, applies and drops it.
bool ReasoningMarks::wholeMark(std::vector<Part>& parts)
{
    if (!m_answerEnd.isEmpty() && m_held == m_answerEnd) {
        m_answerEnd.clear();
        m_held.clear();
        return true;
    }
    if (m_inLine)
        return false;
    for (const auto& [open, end] : kAroundAnswer)
        if (m_seen && m_held == open) {
            m_answerEnd = end.toString();
            m_held.clear();
            return true;
        }
    const bool silent = std::find(kSilent.begin(), kSilent.end(), m_held) != kSilent.end();
    for (const Mark& mark : marks()) {
        if (m_held == mark.open) {
            m_close = mark.close;
            m_seen = true;
            parts.push_back({Part::Kind::Begin});
            m_held.clear();
            return true;
        }
        if (m_held == mark.close && !m_seen && mark.close != u"<|end|>") {
            m_seen = true;
            parts.push_back({Part::Kind::WasThought});
            m_held.clear();
            return true;
        }
    }
    if (std::find(kCommentary.begin(), kCommentary.end(), m_held) != kCommentary.end()) {
        m_close = kCommentaryEnd.toString();
        m_commentary = true;
        m_held.clear();
        return true;
    }
    if (silent)
        m_held.clear();
    return silent;
}

bool ReasoningMarks::beginningOfMark() const
{
    const auto begins = [this](QStringView mark) { return mark.startsWith(m_held); };
    if (m_inLine || (!m_answerEnd.isEmpty() && begins(m_answerEnd)))
        return begins(m_answerEnd);
    if (m_seen && std::ranges::any_of(kAroundAnswer, [&](const auto& tags) { return begins(tags.first); }))
        return true;
    return std::any_of(kSilent.begin(), kSilent.end(), begins) ||
           std::any_of(kCommentary.begin(), kCommentary.end(), begins) ||
           std::any_of(marks().begin(), marks().end(), [&](const Mark& mark) {
               return begins(mark.open) || (!m_seen && mark.close != u"<|end|>" && begins(mark.close));
           });
}

void ReasoningMarks::release(std::vector<Part>& parts)
{
    if (!m_held.isEmpty())
        put(std::exchange(m_held, {}), parts);
}

void ReasoningMarks::put(QStringView text, std::vector<Part>& parts)
{
    const Part::Kind kind = m_close.isEmpty() || m_commentary ? Part::Kind::Answer : Part::Kind::Thought;
    if (parts.empty() || parts.back().kind != kind)
        parts.push_back({kind});
    parts.back().text += text;
    if (kind == Part::Kind::Answer)
        for (const QChar c : text)
            followFences(c);
}

void ReasoningMarks::followFences(QChar c)
{
    if (c != u'\n') {
        m_lineStart = m_lineStart && c.isSpace();
        if (m_line.size() < kFenceLine)
            m_line += c;
        return;
    }
    const QStringView line = QStringView(m_line).trimmed();
    const qsizetype fence = fenceLength(line);
    if (m_fence.isEmpty())
        m_fence = line.first(fence).toString();
    else if (fence >= m_fence.size() && fence == line.size() && line[0] == m_fence[0])
        m_fence.clear();
    m_line.clear();
    m_lineStart = true;
}

PartedAnswer partedAnswer(QStringView text)
{
    using Kind = ReasoningMarks::Part::Kind;
    if (std::none_of(kFirstOfMarks.begin(), kFirstOfMarks.end(), [&](QChar c) { return text.contains(c); }))
        return {text.toString(), {}};
    ReasoningMarks marks;
    std::vector<ReasoningMarks::Part> parts = marks.add(text);
    const std::vector<ReasoningMarks::Part> rest = marks.end();
    parts.insert(parts.end(), rest.begin(), rest.end());
    PartedAnswer found;
    bool thought = false;  // there are marks of reasoning
    for (const ReasoningMarks::Part& part : parts) {
        thought = thought || part.kind != Kind::Answer;
        if (part.kind == Kind::WasThought)
            found.thoughts += std::exchange(found.answer, {});
        (part.kind == Kind::Thought ? found.thoughts : found.answer) += part.text;
    }
    if (thought) {
        found.answer = found.answer.trimmed();
        found.thoughts = found.thoughts.trimmed();
        if (found.answer.isEmpty())
            found.answer = std::exchange(found.thoughts, {});
    }
    return found;
}
