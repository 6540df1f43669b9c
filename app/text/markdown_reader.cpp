#include "app/text/markdown_reader.h"

#include "app/text/block_maker.h"
#include "app/text/entity.h"
#include "app/text/html_reader.h"
#include "app/text/link.h"
#include "app/text/visible_text.h"

#include <QStringList>

#include <md4c.h>

#include <utility>

namespace {

constexpr int kEnough = -1;   // tells md4c to stop
constexpr int kDeepest = 60;  // nested containers
constexpr unsigned kDialect =
    MD_FLAG_STRIKETHROUGH | MD_FLAG_TASKLISTS | MD_FLAG_PERMISSIVEURLAUTOLINKS | MD_FLAG_PERMISSIVEEMAILAUTOLINKS;

/// Passes what md4c finds to a BlockMaker. One object per piece.
class Reader
{
public:
    Reader(const PreparedText& prepared, const MarkdownPlace& place)
        : m_prepared(prepared)
        , m_place(place)
        , m_maker(place.html ? BlockMaker::From::Html : BlockMaker::From::Markdown, place.lists)
        , m_html(m_maker)
    {
    }

    /// Reads the piece. False: it has more cells or nesting than is shown as Markdown.
    bool read()
    {
        const QByteArray utf8 = m_prepared.text.toUtf8();
        MD_PARSER parser{};
        parser.flags = kDialect | (m_place.tables ? MD_FLAG_TABLES : 0) | (m_place.html ? 0 : MD_FLAG_NOHTML);
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

    QList<Block> takeBlocks() { return std::move(m_maker.blocks); }

private:
    int enter(MD_BLOCKTYPE type, void* detail)
    {
        readHtml();
        switch (type) {
        case MD_BLOCK_DOC:
            m_html.beginContainer();
            break;
        case MD_BLOCK_QUOTE:
            m_maker.beginQuote();
            m_html.beginContainer();
            break;
        case MD_BLOCK_UL:
            m_maker.beginList(false, 0, static_cast<MD_BLOCK_UL_DETAIL*>(detail)->is_tight != 0);
            m_html.beginContainer();
            break;
        case MD_BLOCK_OL: {
            const auto* list = static_cast<MD_BLOCK_OL_DETAIL*>(detail);
            const bool goesOn = m_place.listNumber && m_maker.blocks.isEmpty() && m_maker.depth() == 0;
            m_maker.beginList(true, goesOn ? *m_place.listNumber : int(list->start), list->is_tight != 0);
            m_html.beginContainer();
            break;
        }
        case MD_BLOCK_LI: {
            const auto* item = static_cast<MD_BLOCK_LI_DETAIL*>(detail);
            m_maker.beginItem(!item->is_task ? QString() : QString(item->task_mark == ' ' ? u'☐' : u'☑'));
            m_html.beginContainer();
            break;
        }
        case MD_BLOCK_HR:
            m_maker.add(Block::Kind::Rule);
            break;
        case MD_BLOCK_H:
            m_maker.beginParagraph(int(static_cast<MD_BLOCK_H_DETAIL*>(detail)->level));
            break;
        case MD_BLOCK_CODE: {
            Block& code = m_maker.add(Block::Kind::Code);
            const MD_ATTRIBUTE& info = static_cast<MD_BLOCK_CODE_DETAIL*>(detail)->info;
            code.language = languageOf(m_prepared.restored(attribute(info)));
            m_inCode = true;
            break;
        }
        case MD_BLOCK_P:
            m_maker.beginParagraph();
            break;
        case MD_BLOCK_TABLE: {
            const auto* table = static_cast<MD_BLOCK_TABLE_DETAIL*>(detail);
            m_cells += qsizetype(table->col_count) * qsizetype(table->body_row_count + 1);
            if (m_cells > m_place.cells)
                return kEnough;
            m_maker.beginTable();
            break;
        }
        case MD_BLOCK_TR:
            m_maker.row();
            break;
        case MD_BLOCK_TH:
            m_maker.headCell(align(static_cast<MD_BLOCK_TD_DETAIL*>(detail)->align));
            break;
        case MD_BLOCK_TD:
            m_maker.cell();
            break;
        default:
            break;
        }
        return m_maker.depth() > kDeepest ? kEnough : 0;
    }

    int leave(MD_BLOCKTYPE type, void*)
    {
        readHtml();
        switch (type) {
        case MD_BLOCK_DOC:
            m_html.endContainer();
            m_maker.endTable();
            break;
        case MD_BLOCK_QUOTE:
            m_html.endContainer();
            m_maker.endQuote();
            break;
        case MD_BLOCK_UL:
        case MD_BLOCK_OL:
            m_html.endContainer();
            m_maker.endList();
            break;
        case MD_BLOCK_LI:
            m_html.endContainer();
            m_html.endMarks();
            m_maker.endItem();
            break;
        case MD_BLOCK_H:
        case MD_BLOCK_P:
        case MD_BLOCK_HTML:
            m_maker.endParagraph();
            m_html.endMarks();
            break;
        case MD_BLOCK_CODE: {
            m_inCode = false;
            QString& code = m_maker.blocks.last().text;
            if (code.endsWith(u'\n'))
                code.chop(1);
            break;
        }
        case MD_BLOCK_TH:
        case MD_BLOCK_TD:
            m_maker.endCell();
            m_html.endMarks();
            break;
        case MD_BLOCK_TABLE:
            m_maker.endTable();
            break;
        default:
            break;
        }
        return 0;
    }

    int enterSpan(MD_SPANTYPE type, void* detail)
    {
        readHtml();
        switch (type) {
        case MD_SPAN_EM:
            m_maker.look(Span::Italic, 1);
            break;
        case MD_SPAN_STRONG:
            m_maker.look(Span::Bold, 1);
            break;
        case MD_SPAN_DEL:
            m_maker.look(Span::Struck, 1);
            break;
        case MD_SPAN_CODE:
            m_maker.look(Span::Code, 1);
            break;
        case MD_SPAN_A:
            beginLink(static_cast<MD_SPAN_A_DETAIL*>(detail)->href);
            break;
        case MD_SPAN_IMG:
            beginLink(static_cast<MD_SPAN_IMG_DETAIL*>(detail)->src);
            m_maker.put(QStringLiteral("🖼 "));
            break;
        default:
            break;
        }
        return m_addresses.size() > kDeepest ? kEnough : 0;
    }

    int leaveSpan(MD_SPANTYPE type, void*)
    {
        readHtml();
        switch (type) {
        case MD_SPAN_EM:
            m_maker.look(Span::Italic, -1);
            break;
        case MD_SPAN_STRONG:
            m_maker.look(Span::Bold, -1);
            break;
        case MD_SPAN_DEL:
            m_maker.look(Span::Struck, -1);
            break;
        case MD_SPAN_CODE:
            m_maker.look(Span::Code, -1);
            break;
        case MD_SPAN_A:
        case MD_SPAN_IMG:
            endLink();
            break;
        default:
            break;
        }
        return 0;
    }

    void beginLink(const MD_ATTRIBUTE& address)
    {
        m_addresses.append(m_prepared.restored(attribute(address)));
        m_maker.setLink(safeLink(m_addresses.last()));
    }

    void endLink()
    {
        const QString address = m_addresses.takeLast();
        m_maker.setLink(m_addresses.isEmpty() ? QString() : safeLink(m_addresses.last()));
        if (safeLink(address).isEmpty() && !address.isEmpty())  // the address may not be opened, so it is shown as text
            m_maker.put(QStringLiteral(" (%1)").arg(VisibleText::of(address)));
    }

    int text(MD_TEXTTYPE type, const QString& text)
    {
        if (type == MD_TEXT_HTML) {  // it may come in parts
            m_rawHtml += m_prepared.restored(text);
            return 0;
        }
        readHtml();
        if (m_inCode) {
            m_maker.blocks.last().text += m_prepared.restored(text);
            return 0;
        }
        switch (type) {
        case MD_TEXT_NULLCHAR:
            m_maker.put(QString(QChar::ReplacementCharacter));
            break;
        case MD_TEXT_BR:
        case MD_TEXT_SOFTBR:
            if (m_place.html)
                m_maker.gap(QChar::LineSeparator);
            else
                m_maker.put(QString(QChar::LineSeparator));
            break;
        case MD_TEXT_ENTITY:
            m_maker.put(decodedEntity(text));
            break;
        case MD_TEXT_CODE:
            m_maker.put(m_prepared.restored(text), Span::Code);
            break;
        default:
            putWithFormulas(text);
            break;
        }
        return 0;
    }

    void readHtml()
    {
        if (!m_rawHtml.isEmpty())
            m_html.read(std::exchange(m_rawHtml, {}));
    }

    void putWithFormulas(const QString& text)
    {
        qsizetype done = 0;
        for (qsizetype i = 0; i < text.size(); ++i) {
            const qsizetype start = i;
            const Formula* formula = m_prepared.at(text, i);
            if (!formula)
                continue;
            m_maker.put(m_prepared.restored(text.mid(done, start - done)));
            done = i + 1;
            const bool display = formula->display && !m_maker.inCell();
            m_maker.put(formula->shown, Span::Maths | (display ? BlockMaker::kDisplay : 0), formula->latex);
        }
        m_maker.put(m_prepared.restored(text.mid(done)));
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

    const PreparedText& m_prepared;
    const MarkdownPlace m_place;
    BlockMaker m_maker;
    HtmlReader m_html;
    QString m_rawHtml;  // HTML that has not been read yet
    QStringList m_addresses;
    qsizetype m_cells = 0;  // of tables, those missing at the end of rows included
    bool m_inCode = false;
};

}  // namespace

std::optional<QList<Block>> readMarkdown(const PreparedText& text, const MarkdownPlace& place)
{
    Reader reader(text, place);
    if (!reader.read())
        return {};
    return reader.takeBlocks();
}
