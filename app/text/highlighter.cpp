#include "app/text/highlighter.h"

#include "app/text/languages.h"

#include <QHash>
#include <QSet>

#include <vector>

namespace {

constexpr qsizetype kLongestLightedLine = 4000;  // characters; the rest of a longer line stays plain
constexpr int kInsideTag = 1000;                 // state of markup, besides the regions
constexpr qsizetype kCharacterAtMost = 12;       // '\u{1F600}'

/// Holds a language with its words in sets.
struct Ready {
    const Language* language;
    QSet<QString> keywords;
    QSet<QString> types;
};

QSet<QString> words(QStringView text)
{
    QSet<QString> set;
    for (const QStringView word : text.tokenize(u' ', Qt::SkipEmptyParts))
        set.insert(word.toString());
    return set;
}

const Ready* find(const QString& name)
{
    static const auto table = [] {
        std::vector<Ready> all;
        for (const Language& language : languages())
            all.push_back({&language, words(language.keywords), words(language.types)});
        return all;
    }();
    static const auto names = [] {
        QHash<QString, const Ready*> map;
        for (const Ready& ready : table)
            for (const QStringView alias : ready.language->names.tokenize(u' '))
                map.insert(alias.toString(), &ready);
        return map;
    }();
    return names.value(name.toLower());
}

bool isWordStart(QChar c)
{
    return c.isLetter() || c == u'_';
}

/// Reads one line. One object per line.
class LineReader
{
public:
    LineReader(const Ready& ready, QStringView line, int state)
        : m_ready(ready)
        , m_language(*ready.language)
        , m_line(line.first(qMin(line.size(), kLongestLightedLine)))
    {
        m_out.state = state;
    }

    HighlightedLine read()
    {
        if (m_language.kind == Language::Difference) {
            readDifference();
            return m_out;
        }
        if (m_out.state > 0 && m_out.state < kInsideTag)
            region(m_language.regions[size_t(m_out.state - 1)], m_out.state, 0);
        else if (m_language.kind == Language::Prose && m_line.startsWith(u'#'))
            put(0, m_line.size(), CodeWord::Keyword);
        while (m_at < m_line.size())
            step();
        return m_out;
    }

private:
    void step()
    {
        const QChar c = m_line[m_at];
        if (c.isSpace()) {
            ++m_at;
            return;
        }
        const bool outsideTag = m_language.kind == Language::Markup && m_out.state != kInsideTag;
        for (size_t i = 0; i < m_language.regions.size(); ++i) {
            const CodeRegion& candidate = m_language.regions[i];
            if (opens(candidate) && !(outsideTag && candidate.open.size() == 1)) {
                region(candidate, int(i) + 1, candidate.open.size());
                return;
            }
        }
        if (m_language.kind == Language::Markup)
            markup(c);
        else if (m_language.kind == Language::Prose)
            ++m_at;  // NOLINT(bugprone-branch-clone): the order decides
        else if (c.isDigit() || (m_language.kind == Language::Style && c == u'#'))
            number();
        else if (isWordStart(c) || before(c))
            word();
        else if (c == u'[' && m_at == 0 && m_language.title == u"TOML")
            put(0, m_line.size(), CodeWord::Type);
        else
            ++m_at;
    }

    bool opens(const CodeRegion& candidate) const
    {
        if (!m_line.sliced(m_at).startsWith(candidate.open))
            return false;
        if (candidate.spaced && m_at > 0 && !m_line[m_at - 1].isSpace() &&
            !QStringView(u"([{;,=:").contains(m_line[m_at - 1]))
            return false;
        return candidate.reach != CodeRegion::Character || characterEnd() > 0;
    }

    qsizetype characterEnd() const
    {
        for (qsizetype i = m_at + 1; i < qMin(m_line.size(), m_at + kCharacterAtMost); ++i) {
            if (m_line[i] == u'\\')
                ++i;
            else if (m_line[i] == u'\'')
                return i > m_at + 1 && (i == m_at + 2 || m_line[m_at + 1] == u'\\' || m_line[m_at + 1].isSurrogate())
                           ? i + 1
                           : 0;
        }
        return 0;
    }

    /// Marks a region from here to its end, or to the end of the line, and sets the state for the next one.
    void region(const CodeRegion& inside, int number, qsizetype opening)
    {
        const qsizetype start = m_at;
        qsizetype end = -1;
        if (inside.close.isEmpty()) {
            end = m_line.size();
        } else {
            for (qsizetype i = start + opening; i < m_line.size() && end < 0; ++i) {
                if (inside.escapes && m_line[i] == u'\\')
                    ++i;
                else if (m_line.sliced(i).startsWith(inside.close))
                    end = i + inside.close.size();
            }
        }
        const bool tag = m_language.kind == Language::Markup && inside.open.size() == 1;
        if (end < 0) {
            end = m_line.size();
            m_out.state = inside.reach == CodeRegion::Lines ? number : 0;
        } else {
            m_out.state = tag ? kInsideTag : 0;
        }
        CodeWord word = inside.word;
        if (m_language.kind == Language::Keys && word == CodeWord::String && next(end) == u':')
            word = CodeWord::Function;
        put(start, end, word);
    }

    void markup(QChar c)
    {
        if (m_out.state != kInsideTag) {
            if (c != u'<' || m_at + 1 >= m_line.size() ||
                !(m_line[m_at + 1].isLetter() || QStringView(u"/!?").contains(m_line[m_at + 1]))) {
                ++m_at;
                return;
            }
            qsizetype end = m_at + 2;
            while (end < m_line.size() &&
                   (m_line[end].isLetterOrNumber() || QStringView(u"-:_.").contains(m_line[end])))
                ++end;
            put(m_at, end, CodeWord::Keyword);
            m_out.state = kInsideTag;
            return;
        }
        if (c == u'>') {
            put(m_at, m_at + 1, CodeWord::Keyword);
            m_out.state = 0;
        } else if (isWordStart(c)) {
            qsizetype end = m_at + 1;
            while (end < m_line.size() &&
                   (m_line[end].isLetterOrNumber() || QStringView(u"-:_.").contains(m_line[end])))
                ++end;
            put(m_at, end, CodeWord::Function);
        } else {
            ++m_at;
        }
    }

    void number()
    {
        qsizetype end = m_at + 1;
        while (end < m_line.size() && (m_line[end].isLetterOrNumber() || m_line[end] == u'_' || m_line[end] == u'%' ||
                                       (m_line[end] == u'.' && end + 1 < m_line.size() && m_line[end + 1].isDigit())))
            ++end;
        put(m_at, end, CodeWord::Number);
    }

    bool before(QChar c) const
    {
        const bool named = m_at + 1 < m_line.size() && (isWordStart(m_line[m_at + 1]) || m_line[m_at + 1] == u'{');
        if (c == u'#' && m_language.preprocessor)
            return named && m_line.first(m_at).trimmed().isEmpty();
        if (m_language.kind == Language::Style)
            return named && QStringView(u"@.").contains(c);
        return named && m_language.beforeNames.contains(c);
    }

    void word()
    {
        const qsizetype start = m_at;
        const QChar first = m_line[start];
        qsizetype end = start + 1;
        const auto goesOn = [this](QChar c) {
            return c.isLetterOrNumber() || c == u'_' || m_language.inWords.contains(c);
        };
        while (end < m_line.size() && goesOn(m_line[end]))
            ++end;
        m_at = end;
        if (!isWordStart(first)) {
            put(start, end,
                first == u'#' || (first == u'@' && m_language.kind == Language::Style) ? CodeWord::Keyword
                                                                                       : CodeWord::Type);
            return;
        }
        QString name = m_line.sliced(start, end - start).toString();
        const bool capital = m_language.capitalTypes && first.isUpper();
        if (m_language.anyCase)
            name = name.toLower();
        if (m_language.kind == Language::Keys || m_language.kind == Language::Style) {
            if (const QChar after = next(end); after == u':' || after == u'=')
                put(start, end, CodeWord::Function);
            else if (m_ready.keywords.contains(name))
                put(start, end, CodeWord::Keyword);
        } else if (m_ready.keywords.contains(name)) {
            put(start, end, CodeWord::Keyword);
        } else if (m_ready.types.contains(name)) {  // NOLINT(bugprone-branch-clone): the order decides
            put(start, end, CodeWord::Type);
        } else if (end < m_line.size() && m_line[end] == u'(') {
            put(start, end, capital ? CodeWord::Type : CodeWord::Function);
        } else if (capital) {
            put(start, end, CodeWord::Type);
        } else if (m_language.title == u"PowerShell" && name.contains(u'-')) {
            put(start, end, CodeWord::Function);
        }
    }

    void readDifference()
    {
        if (m_line.startsWith(u"@@"))
            put(0, m_line.size(), CodeWord::Type);
        else if (m_line.startsWith(u"+++") || m_line.startsWith(u"---") || m_line.startsWith(u"diff ") ||
                 m_line.startsWith(u"index "))
            put(0, m_line.size(), CodeWord::Comment);
        else if (m_line.startsWith(u'+'))
            put(0, m_line.size(), CodeWord::Added);
        else if (m_line.startsWith(u'-'))
            put(0, m_line.size(), CodeWord::Removed);
    }

    /// Returns the next character that is no space.
    QChar next(qsizetype at) const
    {
        while (at < m_line.size() && m_line[at].isSpace())
            ++at;
        return at < m_line.size() ? m_line[at] : QChar();
    }

    void put(qsizetype start, qsizetype end, CodeWord word)
    {
        if (end > start)
            m_out.runs.append({start, end - start, word});
        m_at = end;
    }

    const Ready& m_ready;
    const Language& m_language;
    QStringView m_line;
    qsizetype m_at = 0;
    HighlightedLine m_out;
};

}  // namespace

HighlightedLine highlightLine(const QString& language, QStringView line, int state)
{
    const Ready* const ready = find(language);
    if (!ready)
        return {};
    const bool known = state >= 0 && (state == kInsideTag || size_t(state) <= ready->language->regions.size());
    return LineReader(*ready, line, known ? state : 0).read();
}

int stateAfter(const QString& language, QStringView text, int state)
{
    if (find(language))
        for (const QStringView line : text.tokenize(u'\n'))
            state = highlightLine(language, line, state).state;
    return state;
}

QString languageTitle(const QString& language)
{
    static const QHash<QString, QString> own = {
        {QStringLiteral("xml"), QStringLiteral("XML")},   {QStringLiteral("svg"), QStringLiteral("SVG")},
        {QStringLiteral("scss"), QStringLiteral("SCSS")}, {QStringLiteral("ini"), QStringLiteral("INI")},
        {QStringLiteral("cuda"), QStringLiteral("CUDA")}, {QStringLiteral("jsx"), QStringLiteral("JSX")},
        {QStringLiteral("tsx"), QStringLiteral("TSX")}};
    if (const auto title = own.find(language.toLower()); title != own.end())
        return *title;
    const Ready* const ready = find(language);
    return ready ? ready->language->title.toString() : language;
}
