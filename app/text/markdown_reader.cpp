#include "app/text/markdown_reader.h"

#include "app/text/entity.h"
#include "app/text/link.h"
#include "app/text/visible_text.h"

#include <QStringList>

#include <md4c.h>

#include <utility>
#include <vector>

namespace {

constexpr int kEnough = -1;   // tells md4c to stop
constexpr int kDeepest = 60;  // containers in containers
constexpr unsigned kDialect = MD_FLAG_NOHTML | MD_FLAG_STRIKETHROUGH | MD_FLAG_TASKLISTS |
                              MD_FLAG_PERMISSIVEURLAUTOLINKS | MD_FLAG_PERMISSIVEEMAILAUTOLINKS;

/// Makes blocks of what md4c says. One object per piece.
class Reader
{
public:
    Reader(const PreparedText& prepared, const MarkdownPlace& place)
        : m_prepared(prepared)
        , m_place(place)
    {
    }

    /// False when the piece is more than we want to show as Markdown.
    bool read()
    {
        const QByteArray utf8 = m_prepared.text.toUtf8();
        MD_PARSER parser{};
        parser.flags = kDialect | (m_place.tables ? MD_FLAG_TABLES : 0);
        parser.enter_block = [](MD_BLOCKTYPE type, void* detail, void* self) {
            return static_cast<Reader*>(self)->enter(type, detail);
        };
        parser.leave_block = [](MD_BLOCKTYPE type, void* detail, void* self) {
            return static_cast<Reader*>(self)->leave(type, detail);
        };
        parser.enter_span = [](MD_SPANTYPE type, void* detail, void* self) {
            return static_cast<Reader*>(self)->enterSpan(type, detail);
        };
        parser.leave_span = [](MD_SPANTYPE type, void* detail, void* self) {
            return static_cast<Reader*>(self)->leaveSpan(type, detail);
        };
        parser.text = [](MD_TEXTTYPE type, const MD_CHAR* text, MD_SIZE size, void* self) {
            return static_cast<Reader*>(self)->text(type, QString::fromUtf8(text, qsizetype(size)));
        };
        return md_parse(utf8.constData(), MD_SIZE(utf8.size()), &parser, this) == 0;
    }

    QList<Block> blocks;

private:
    struct List {
        bool ordered;
        int next;
        bool tight;
    };

    int enter(MD_BLOCKTYPE type, void* detail)
    {
        switch (type) {
        case MD_BLOCK_DOC:
            break;
        case MD_BLOCK_QUOTE:
            endParagraph();
            if (m_quotes++ == 0)
                m_quoteIndent = m_depth;
            break;
        case MD_BLOCK_UL:
            endParagraph();
            m_lists.push_back({false, 0, static_cast<MD_BLOCK_UL_DETAIL*>(detail)->is_tight != 0});
            break;
        case MD_BLOCK_OL: {
            endParagraph();
            const auto* list = static_cast<MD_BLOCK_OL_DETAIL*>(detail);
            const bool goesOn = m_place.listNumber && blocks.isEmpty() && m_lists.empty() && m_quotes == 0;
            m_lists.push_back({true, goesOn ? *m_place.listNumber : int(list->start), list->is_tight != 0});
            break;
        }
        case MD_BLOCK_LI:
            endParagraph();
            beginItem(*static_cast<MD_BLOCK_LI_DETAIL*>(detail));
            break;
        case MD_BLOCK_HR:
            add(Block::Kind::Rule);
            break;
        case MD_BLOCK_H:
            beginParagraph();
            m_paragraph->heading = int(static_cast<MD_BLOCK_H_DETAIL*>(detail)->level);
            break;
        case MD_BLOCK_CODE: {
            Block& code = add(Block::Kind::Code);
            const MD_ATTRIBUTE& info = static_cast<MD_BLOCK_CODE_DETAIL*>(detail)->info;
            code.language = languageOf(m_prepared.restored(attribute(info)));
            m_inCode = true;
            break;
        }
        case MD_BLOCK_P:
            beginParagraph();
            break;
        case MD_BLOCK_TABLE: {
            const auto* table = static_cast<MD_BLOCK_TABLE_DETAIL*>(detail);
            m_cells += qsizetype(table->col_count) * qsizetype(table->body_row_count + 1);
            if (m_cells > m_place.cells)
                return kEnough;
            add(Block::Kind::Table);
            break;
        }
        case MD_BLOCK_TR:
            blocks.last().table.rows.append(QList<Spans>());
            break;
        case MD_BLOCK_TH:
        case MD_BLOCK_TD: {
            Table& table = blocks.last().table;
            if (type == MD_BLOCK_TH)
                table.columns.append(align(static_cast<MD_BLOCK_TD_DETAIL*>(detail)->align));
            table.rows.last().append(Spans());
            m_cell = &table.rows.last().last();
            break;
        }
        default:
            break;
        }
        return m_quotes + int(m_lists.size()) > kDeepest ? kEnough : 0;
    }

    int leave(MD_BLOCKTYPE type, void*)
    {
        switch (type) {
        case MD_BLOCK_QUOTE:
            endParagraph();
            --m_quotes;
            break;
        case MD_BLOCK_UL:
        case MD_BLOCK_OL:
            endParagraph();
            m_lists.pop_back();
            break;
        case MD_BLOCK_LI:
            endParagraph();
            if (!m_marker.isEmpty()) {  // an empty item is one still
                beginParagraph();
                endParagraph();
            }
            --m_depth;
            break;
        case MD_BLOCK_H:
        case MD_BLOCK_P:
            endParagraph();
            break;
        case MD_BLOCK_CODE:
            m_inCode = false;
            if (blocks.last().text.endsWith(u'\n'))
                blocks.last().text.chop(1);
            break;
        case MD_BLOCK_TH:
        case MD_BLOCK_TD:
            m_cell = nullptr;
            break;
        case MD_BLOCK_TR: {  // md4c makes all rows as long as the head
            QList<Spans>& row = blocks.last().table.rows.last();
            while (!row.isEmpty() && row.last().isEmpty())
                row.removeLast();
            break;
        }
        default:
            break;
        }
        return 0;
    }

    int enterSpan(MD_SPANTYPE type, void* detail)
    {
        switch (type) {
        case MD_SPAN_EM:
            ++m_italic;
            break;
        case MD_SPAN_STRONG:
            ++m_bold;
            break;
        case MD_SPAN_DEL:
            ++m_struck;
            break;
        case MD_SPAN_CODE:
            ++m_code;
            break;
        case MD_SPAN_A:
            m_addresses.append(m_prepared.restored(attribute(static_cast<MD_SPAN_A_DETAIL*>(detail)->href)));
            break;
        case MD_SPAN_IMG:
            m_addresses.append(m_prepared.restored(attribute(static_cast<MD_SPAN_IMG_DETAIL*>(detail)->src)));
            put(QStringLiteral("🖼 "), 0);
            break;
        default:
            break;
        }
        return m_addresses.size() > kDeepest ? kEnough : 0;
    }

    int leaveSpan(MD_SPANTYPE type, void*)
    {
        switch (type) {
        case MD_SPAN_EM:
            --m_italic;
            break;
        case MD_SPAN_STRONG:
            --m_bold;
            break;
        case MD_SPAN_DEL:
            --m_struck;
            break;
        case MD_SPAN_CODE:
            --m_code;
            break;
        case MD_SPAN_A:
        case MD_SPAN_IMG: {
            const QString address = m_addresses.takeLast();
            if (safeLink(address).isEmpty() && !address.isEmpty())
                put(QStringLiteral(" (%1)").arg(VisibleText::of(address)),
                    0);  // it leads nowhere; what it said is seen
            break;
        }
        default:
            break;
        }
        return 0;
    }

    int text(MD_TEXTTYPE type, const QString& text)
    {
        if (m_inCode) {
            blocks.last().text += m_prepared.restored(text);
            return 0;
        }
        switch (type) {
        case MD_TEXT_NULLCHAR:
            put(QString(QChar::ReplacementCharacter), 0);
            break;
        case MD_TEXT_BR:
        case MD_TEXT_SOFTBR:
            put(QString(QChar::LineSeparator), 0);
            break;
        case MD_TEXT_ENTITY:
            put(decodedEntity(text), 0);
            break;
        case MD_TEXT_CODE:
            put(m_prepared.restored(text), Span::Code);
            break;
        default:
            putWithFormulas(text);
            break;
        }
        return 0;
    }

    void putWithFormulas(const QString& text)
    {
        qsizetype done = 0;
        for (qsizetype i = 0; i < text.size(); ++i) {
            const qsizetype start = i;
            const Formula* formula = m_prepared.at(text, i);
            if (!formula)
                continue;
            put(text.mid(done, start - done), 0);
            done = i + 1;
            put(formula->shown, Span::Maths | (formula->display && !m_cell ? kDisplay : 0), formula->latex);
        }
        put(text.mid(done), 0);
    }

    void put(const QString& text, int looks, const QString& formula = {})
    {
        if (text.isEmpty() && formula.isEmpty())
            return;
        Spans* spans = m_cell;
        if (!spans) {
            if (!m_paragraph)  // in a tight list
                beginParagraph();
            spans = &m_paragraph->spans;
        }
        looks |= (m_bold ? Span::Bold : 0) | (m_italic ? Span::Italic : 0) | (m_struck ? Span::Struck : 0) |
                 (m_code ? Span::Code : 0);
        const QString link = m_addresses.isEmpty() ? QString() : safeLink(m_addresses.last());
        if (formula.isEmpty() && !spans->isEmpty() && spans->last().looks == looks && spans->last().link == link)
            spans->last().text += text;
        else
            spans->append({text, looks, link, formula});
    }

    void beginItem(const MD_BLOCK_LI_DETAIL& item)
    {
        List& list = m_lists.back();
        ++m_depth;
        static constexpr QChar bullets[] = {u'•', u'◦', u'▪'};
        if (item.is_task)
            m_marker = item.task_mark == ' ' ? QStringLiteral("☐") : QStringLiteral("☑");
        else if (list.ordered)
            m_marker = QString::number(list.next) + QLatin1Char('.');
        else
            m_marker = bullets[(m_depth - 1) % 3];
        if (list.next < 999'999'999)
            ++list.next;
        m_closeItem = list.tight;
    }

    void beginParagraph()
    {
        endParagraph();
        m_paragraph.emplace();
        m_paragraph->depth = m_depth - (m_quotes > 0 ? m_quoteIndent : 0);
        m_paragraph->close = !m_marker.isEmpty() && m_closeItem;
        m_paragraph->marker = std::exchange(m_marker, {});
    }

    void endParagraph()
    {
        if (!m_paragraph)
            return;
        Paragraph paragraph = std::move(*m_paragraph);
        m_paragraph.reset();
        if (!paragraph.spans.isEmpty() && (paragraph.spans[0].looks & kDisplay) && paragraph.spans.size() == 1) {
            if (!paragraph.marker.isEmpty()) {
                Paragraph marker = paragraph;
                marker.spans.clear();
                addText(std::move(marker));
            }
            Block& maths = add(Block::Kind::Maths);
            maths.text = paragraph.spans[0].text;
            maths.formula = paragraph.spans[0].formula;
            return;
        }
        for (Span& span : paragraph.spans)
            span.looks &= ~kDisplay;
        addText(std::move(paragraph));
    }

    void addText(Paragraph paragraph)
    {
        const int indent = m_quotes > 0 ? m_quoteIndent : 0;
        const bool goesOn = !blocks.isEmpty() && blocks.last().kind == Block::Kind::Text &&
                            blocks.last().quotes == m_quotes && blocks.last().indent == indent;
        if (!goesOn)
            blocks.append({.kind = Block::Kind::Text, .indent = indent, .quotes = m_quotes});
        blocks.last().paragraphs.append(std::move(paragraph));
    }

    Block& add(Block::Kind kind)
    {
        endParagraph();
        if (!m_marker.isEmpty()) {  // the item begins with something that is no text
            beginParagraph();
            endParagraph();
        }
        blocks.append({.kind = kind, .indent = m_depth, .quotes = m_quotes});
        return blocks.last();
    }

    static Table::Align align(MD_ALIGN align)
    {
        return align == MD_ALIGN_CENTER  ? Table::Align::Center
               : align == MD_ALIGN_RIGHT ? Table::Align::Right
                                         : Table::Align::Left;
    }

    static QString attribute(const MD_ATTRIBUTE& attribute)
    {
        QString out;
        for (int i = 0; attribute.text && attribute.substr_offsets[i] < attribute.size; ++i) {
            const MD_OFFSET start = attribute.substr_offsets[i];
            const QString part =
                QString::fromUtf8(attribute.text + start, qsizetype(attribute.substr_offsets[i + 1] - start));
            out += attribute.substr_types[i] == MD_TEXT_ENTITY ? decodedEntity(part) : part;
        }
        return out;
    }

    static constexpr int kDisplay = 0x100;  // a look of our own: a formula that wants lines of its own

    const PreparedText& m_prepared;
    const MarkdownPlace m_place;
    std::vector<List> m_lists;
    std::optional<Paragraph> m_paragraph;
    Spans* m_cell = nullptr;
    QString m_marker;  // of an item whose text has not come yet
    QStringList m_addresses;
    qsizetype m_cells = 0;  // of tables, also those that are missing
    int m_quotes = 0;
    int m_quoteIndent = 0;
    int m_depth = 0;
    int m_bold = 0, m_italic = 0, m_struck = 0, m_code = 0;
    bool m_closeItem = false;
    bool m_inCode = false;
};

}  // namespace

std::optional<QList<Block>> readMarkdown(const PreparedText& text, const MarkdownPlace& place)
{
    Reader reader(text, place);
    if (!reader.read())
        return {};
    return std::move(reader.blocks);
}
