#include "app/server/grammar_text.h"

#include "engine/answer_grammar.h"

#include <algorithm>
#include <vector>

namespace server {

namespace {

constexpr std::string_view kDefined = " ::= ";

bool is_name_byte_of_gbnf(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
}

/// Says whether a rule belongs to one schema: such rules have a dash in their names, rules that all schemas share have
/// none.
bool is_of_one_schema(std::string_view name)
{
    return name == "root" || name.find('-') != std::string_view::npos;
}

/// Returns the length of the literal, class or number of repeats that `body` begins with; 0: it begins with none.
std::size_t quoted_bytes(std::string_view body)
{
    const char close = body.front() == '"' ? '"' : body.front() == '[' ? ']' : body.front() == '{' ? '}' : '\0';
    for (std::size_t i = 1; close != '\0' && i < body.size(); ++i) {
        if (body[i] == close)
            return i + 1;
        if (body[i] == '\\')
            ++i;
    }
    return 0;
}

std::string with_prefix(std::string_view body, const std::string& prefix)
{
    std::string renamed;
    while (!body.empty()) {
        std::size_t bytes = std::max<std::size_t>(quoted_bytes(body), 1);
        if (is_name_byte_of_gbnf(body.front())) {
            bytes = std::size_t(std::ranges::find_if_not(body, is_name_byte_of_gbnf) - body.begin());
            if (is_of_one_schema(body.substr(0, bytes)))
                renamed += prefix;
        }
        renamed += body.substr(0, bytes);
        body.remove_prefix(bytes);
    }
    return renamed;
}

std::string hex_escape(char c)
{
    constexpr std::string_view kHex = "0123456789abcdef";
    const auto byte = static_cast<unsigned char>(c);
    return std::string("\\x") + kHex[byte >> 4] + kHex[byte & 15];
}

std::vector<std::string> characters_of(std::string_view text)
{
    std::vector<std::string> all;
    for (const char byte : text)
        if ((static_cast<unsigned char>(byte) & 0xC0) == 0x80 && !all.empty())
            all.back() += byte;
        else
            all.emplace_back(1, byte);
    return all;
}

/// Returns how much of the mark has been read when this character comes behind its first `read` ones.
std::size_t read_after(const std::vector<std::string>& mark, std::size_t read, const std::string& character)
{
    std::vector<std::string> said(mark.begin(), mark.begin() + std::ptrdiff_t(read));
    said.push_back(character);
    for (std::size_t size = said.size(); size > 0; --size)
        if (std::equal(mark.begin(), mark.begin() + std::ptrdiff_t(size), said.end() - std::ptrdiff_t(size)))
            return size;
    return 0;
}

}  // namespace

std::string gbnf_text(std::string_view text)
{
    std::string literal = "\"";
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        literal += byte < 0x20 || byte == 0x7F || c == '"' || c == '\\' ? hex_escape(c) : std::string(1, c);
    }
    return literal + '"';
}

GrammarText::GrammarText()
{
    (void)schema(Json{{"type", "object"}});
}

std::string GrammarText::rule(const std::string& body)
{
    std::string name = new_prefix() + "rule";
    add(name, body);
    return name;
}

engine::Result<std::string> GrammarText::schema(const Json& schema, engine::SchemaRigour rigour)
{
    if (is_full())
        return too_many();
    const std::string text = text_of(schema);
    schema_bytes_ += text.size();
    if (is_full())
        return too_many();
    const auto gbnf = engine::gbnf_of_json_schema(text, rigour);
    if (!gbnf)
        return tl::unexpected(gbnf.error());
    return root_of(*gbnf);
}

engine::Result<std::string> GrammarText::too_many()
{
    return engine::fail(engine::Error::Code::BadRequest, "the schemas are more than 1 MiB in all");
}

std::string GrammarText::root_of(const std::string& gbnf)
{
    const std::string prefix = new_prefix();
    for (std::string_view rest = gbnf; !rest.empty();) {
        const std::string_view line = rest.substr(0, rest.find('\n'));
        rest.remove_prefix(std::min(line.size() + 1, rest.size()));
        const std::size_t defined = line.find(kDefined);
        if (defined == std::string_view::npos)
            continue;
        const std::string name(line.substr(0, defined));
        const std::string_view body = line.substr(defined + kDefined.size());
        if (is_of_one_schema(name))
            add(prefix + name, with_prefix(body, prefix));
        else if (shared_.insert(name).second)
            add(name, std::string(body));
    }
    return prefix + "root";
}

std::string GrammarText::text_until(std::string_view mark)
{
    return scan(mark, "\"\"", End::AtMark, {});
}

std::string GrammarText::text_with(std::string_view mark, const std::string& then, std::string_view not_first)
{
    return scan(mark, then, End::Anywhere, not_first);
}

/// Writes a rule for each number of characters of the mark that may just have been read. Each calls the next one at its
/// end, so that a text of any length needs that many states only.
std::string GrammarText::scan(std::string_view mark, const std::string& then, End end, std::string_view not_first)
{
    const std::vector<std::string> characters = characters_of(mark);
    const std::set<std::string> different(characters.begin(), characters.end());
    const std::string prefix = new_prefix() + "read-";
    const auto choices = [&](std::size_t read, std::string_view excluded) {
        std::string others = "[^", all;
        for (const std::string& character : different) {
            others += character.size() == 1 ? hex_escape(character.front()) : character;
            if (excluded.find(character) != std::string_view::npos)
                continue;
            const std::size_t now = read_after(characters, read, character);
            all +=
                " | " + gbnf_text(character) + " " + (now == characters.size() ? then : prefix + std::to_string(now));
        }
        for (const char c : excluded)
            others += hex_escape(c);
        return others + "] " + prefix + "0" + all + (end == End::Anywhere ? " | \"\"" : "");
    };
    for (std::size_t read = 0; read < characters.size(); ++read)
        add(prefix + std::to_string(read), choices(read, {}));
    if (not_first.empty())
        return prefix + "0";
    add(prefix + "first", choices(0, not_first));
    return prefix + "first";
}

}  // namespace server
