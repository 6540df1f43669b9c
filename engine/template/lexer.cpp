// The lexer. Its whitespace rules are Jinja's, quirks included, since models were trained on the text they leave.
#include "engine/template/lexer.h"

#include "engine/template/budget.h"
#include "engine/template/literal.h"
#include "engine/template/text_of.h"
#include "engine/template/unicode.h"

namespace engine::jinja {

namespace {

/// Makes one pass over one source.
class Lexer
{
public:
    explicit Lexer(const std::string& source)
        : source_(with_plain_line_ends(source))
    {
    }

    std::vector<Token> run()
    {
        while (at_ < source_.size())
            text();
        push(Token::Kind::End, "");
        return std::move(tokens_);
    }

private:
    // Returns the source with each kind of line end made a line feed, as Jinja reads it, and without one at the end of
    // the template.
    static std::string with_plain_line_ends(const std::string& source)
    {
        std::string plain;
        plain.reserve(source.size());
        for (std::size_t i = 0; i < source.size(); ++i) {
            if (source[i] == '\r') {
                plain += '\n';
                i += i + 1 < source.size() && source[i + 1] == '\n' ? 1 : 0;
            } else {
                plain += source[i];
            }
        }
        if (!plain.empty() && plain.back() == '\n')
            plain.pop_back();
        return plain;
    }

    [[noreturn]] void fail(std::string sentence) const { throw TemplateError(std::move(sentence), line_); }

    std::string_view rest() const { return std::string_view(source_).substr(at_); }
    char peek(std::size_t ahead = 0) const { return at_ + ahead < source_.size() ? source_[at_ + ahead] : '\0'; }

    void advance(std::size_t bytes)
    {
        for (std::size_t i = 0; i < bytes; ++i)
            line_ += source_[at_ + i] == '\n' ? 1 : 0;
        at_ += bytes;
    }

    void skip_space() { advance(rest().size() - unicode::strip_left(rest()).size()); }

    void push(Token::Kind kind, std::string text)
    {
        tokens_.push_back({});
        tokens_.back().kind = kind;
        tokens_.back().line = line_;
        tokens_.back().text = std::move(text);
    }

    // ---- outside of blocks ----

    void text()
    {
        std::size_t open = source_.find('{', at_);
        while (open != std::string::npos && !is_opening(open))
            open = source_.find('{', open + 1);
        if (open == std::string::npos) {
            push(Token::Kind::Text, source_.substr(at_));
            advance(source_.size() - at_);
            return;
        }
        const char sign = open + 2 < source_.size() ? source_[open + 2] : '\0';
        push_text(std::string_view(source_).substr(at_, open - at_), source_[open + 1], sign);
        advance(open - at_);
        const char kind = source_[open + 1];
        advance(sign == '-' || sign == '+' ? 3 : 2);
        if (kind == '#')
            comment();
        else if (kind == '{')
            expression(Token::Kind::VariableBegin, Token::Kind::VariableEnd);
        else if (!raw())
            expression(Token::Kind::BlockBegin, Token::Kind::BlockEnd);
    }

    bool is_opening(std::size_t at) const
    {
        return at + 1 < source_.size() && (source_[at + 1] == '{' || source_[at + 1] == '%' || source_[at + 1] == '#');
    }

    // Adds the text before a tag, without the space that the tag takes away.
    void push_text(std::string_view text, char kind, char sign)
    {
        if (sign == '-') {
            text = unicode::strip_right(text);
        } else if (sign != '+' && kind != '{') {
            const std::size_t line_start = text.rfind('\n') + 1;  // 0 where there is none
            const bool at_line_start = line_start > 0 || at_ == 0 || source_[at_ - 1] == '\n';
            if (at_line_start && unicode::strip_left(text.substr(line_start)).empty())
                text = text.substr(0, line_start);
        }
        if (!text.empty())
            push(Token::Kind::Text, std::string(text));
    }

    void comment()
    {
        const std::size_t end = source_.find("#}", at_);
        if (end == std::string::npos)
            fail("missing end of comment tag");
        const bool strips = end > at_ && source_[end - 1] == '-';
        const bool keeps = end > at_ && source_[end - 1] == '+';
        advance(end + 2 - at_);
        after_tag(strips, keeps);
    }

    // Skips what follows a closing tag: `-` skips all space, no sign one line end, `+` nothing.
    void after_tag(bool strips, bool keeps)
    {
        if (strips)
            skip_space();
        else if (!keeps && peek() == '\n')
            advance(1);
    }

    // Reads {% raw %} ... {% endraw %}; false, with nothing consumed, where this is another block.
    bool raw()
    {
        const std::size_t begin = at_;
        const int line = line_;
        skip_space();
        const bool is_raw = rest().substr(0, 3) == "raw";
        if (is_raw) {
            advance(3);
            skip_space();
            const bool strips = rest().substr(0, 3) == "-%}";
            if (strips || rest().substr(0, 2) == "%}") {
                advance(strips ? 3 : 2);
                if (strips)
                    skip_space();
                raw_text();
                return true;
            }
        }
        at_ = begin;
        line_ = line;
        return false;
    }

    void raw_text()
    {
        for (std::size_t open = source_.find("{%", at_); open != std::string::npos;
             open = source_.find("{%", open + 1)) {
            const char sign = open + 2 < source_.size() ? source_[open + 2] : '\0';
            const std::size_t body = open + (sign == '-' || sign == '+' ? 3 : 2);
            std::string_view tag = unicode::strip_left(std::string_view(source_).substr(body));
            if (tag.substr(0, 6) != "endraw")
                continue;
            tag = unicode::strip_left(tag.substr(6));
            const bool strips = tag.substr(0, 3) == "-%}", keeps = tag.substr(0, 3) == "+%}";
            if (!strips && !keeps && tag.substr(0, 2) != "%}")
                continue;
            push_text(std::string_view(source_).substr(at_, open - at_), '%', sign);
            const std::size_t end = source_.size() - tag.size() + (strips || keeps ? 3 : 2);
            advance(end - at_);
            after_tag(strips, keeps);
            return;
        }
        fail("missing end of raw directive");
    }

    // ---- inside of blocks ----

    void expression(Token::Kind begin, Token::Kind end)
    {
        push(begin, "");
        brackets_.clear();
        while (!closing(end)) {
            if (at_ >= source_.size())
                fail(end == Token::Kind::BlockEnd ? "the template ends inside a block tag"
                                                  : "the template ends inside an expression");
            token();
        }
    }

    // Takes the closing tag if it is here. Inside brackets `}}` closes two dictionaries instead.
    bool closing(Token::Kind end)
    {
        if (!brackets_.empty())
            return false;
        const bool is_block = end == Token::Kind::BlockEnd;
        const std::string_view mark = is_block ? "%}" : "}}";
        const char sign = peek();
        const bool strips = sign == '-' && rest().substr(1, 2) == mark;
        const bool keeps = is_block && sign == '+' && rest().substr(1, 2) == mark;
        if (!strips && !keeps && rest().substr(0, 2) != mark)
            return false;
        push(end, std::string(mark));
        advance(strips || keeps ? 3 : 2);
        if (is_block)
            after_tag(strips, keeps);
        else if (strips)
            skip_space();
        return true;
    }

    void token()
    {
        std::size_t after = at_;
        const char32_t c = unicode::next(source_, after);
        if (unicode::is_space(c))
            skip_space();
        else if (c >= '0' && c <= '9')
            number();
        else if (c == '_' || unicode::is_alpha(c))
            name();
        else if (c == '\'' || c == '"')
            string(char(c));
        else
            symbol();
    }

    void name()
    {
        std::size_t end = at_;
        while (end < source_.size()) {
            std::size_t after = end;
            const char32_t c = unicode::next(source_, after);
            if (c != '_' && !unicode::is_alpha(c) && !unicode::is_numeric(c))
                break;
            end = after;
        }
        push(Token::Kind::Name, source_.substr(at_, end - at_));
        at_ = end;
    }

    void string(char quote)
    {
        std::size_t end = at_ + 1;
        while (end < source_.size() && source_[end] != quote)
            end += source_[end] == '\\' ? 2 : 1;
        if (end >= source_.size())
            fail(std::string("unexpected char ") + (quote == '"' ? "'\"'" : "\"'\"") + ": the string does not end");
        const std::string_view content = std::string_view(source_).substr(at_ + 1, end - at_ - 1);
        std::string value;
        if (!unescape(content, value))
            fail("a string has a malformed escape");
        push(Token::Kind::String, std::move(value));
        advance(end + 1 - at_);
    }

    void symbol()
    {
        static constexpr std::string_view kDouble[] = {"//", "**", "==", "!=", ">=", "<="};
        static constexpr std::string_view kSingle = "+-/*%~[](){}><=.:|,;";
        for (const std::string_view known : kDouble)
            if (rest().substr(0, 2) == known) {
                push(Token::Kind::Operator, std::string(known));
                return advance(2);
            }
        const char c = peek();
        if (kSingle.find(c) == std::string_view::npos) {
            std::size_t after = at_;
            unicode::next(source_, after);
            fail("unexpected char " + repr_text(std::string_view(source_).substr(at_, after - at_)));
        }
        balance(c);
        push(Token::Kind::Operator, std::string(1, c));
        advance(1);
    }

    void balance(char c)
    {
        if (c == '(' || c == '[' || c == '{')
            brackets_ += c == '(' ? ')' : c == '[' ? ']' : '}';
        if (c != ')' && c != ']' && c != '}')
            return;
        if (brackets_.empty())
            fail(std::string("unexpected '") + c + "'");
        if (brackets_.back() != c)
            fail(std::string("unexpected '") + c + "', expected '" + brackets_.back() + "'");
        brackets_.pop_back();
    }

    void number()
    {
        NumberLiteral literal = read_number(rest(), at_ > 0 && source_[at_ - 1] == '.');
        if (!literal.fits)
            fail("an integer does not fit 64 bits");
        push(literal.is_float ? Token::Kind::Float : Token::Kind::Integer,
             std::string(rest().substr(0, literal.bytes)));
        tokens_.back().integer = literal.integer;
        tokens_.back().real = literal.real;
        at_ += literal.bytes;
    }

    const std::string source_;
    std::size_t at_ = 0;
    int line_ = 1;
    std::string brackets_;  // the closing brackets that are still to come
    std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> tokenize(const std::string& source)
{
    return Lexer(source).run();
}

std::string describe(const Token& token)
{
    switch (token.kind) {
    case Token::Kind::Text:
        return "template data / text";
    case Token::Kind::VariableBegin:
        return "begin of print statement";
    case Token::Kind::VariableEnd:
        return "end of print statement";
    case Token::Kind::BlockBegin:
        return "begin of statement block";
    case Token::Kind::BlockEnd:
        return "end of statement block";
    case Token::Kind::End:
        return "end of template";
    default:
        return token.text;
    }
}

}  // namespace engine::jinja
