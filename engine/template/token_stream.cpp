// Walking over tokens, and the errors of what was not expected.
#include "engine/template/token_stream.h"

#include "engine/template/text_of.h"

namespace engine::jinja {

constexpr int kDeepestNesting = 160;  // two levels for each pair of brackets

TokenStream::Nested::Nested(TokenStream& tokens)
    : tokens_(tokens)
{
    if (++tokens_.nesting_ > kDeepestNesting) {
        --tokens_.nesting_;
        tokens_.fail("the template nests too deeply");
    }
}

void TokenStream::fail(std::string sentence) const
{
    throw TemplateError(std::move(sentence), current().line);
}

const Token& TokenStream::take()
{
    const Token& token = tokens_[at_];
    if (at_ + 1 < tokens_.size())
        ++at_;
    return token;
}

bool TokenStream::skip_operator(std::string_view symbol)
{
    if (!current().is_operator(symbol))
        return false;
    take();
    return true;
}

bool TokenStream::skip_name(std::string_view name)
{
    if (!current().is_name(name))
        return false;
    take();
    return true;
}

void TokenStream::expect_operator(std::string_view symbol)
{
    if (!skip_operator(symbol))
        fail("expected token '" + std::string(symbol) + "', got " + quote(describe(current())));
}

void TokenStream::expect(Token::Kind kind, std::string_view what)
{
    if (current().kind != kind)
        fail("expected token '" + std::string(what) + "', got " + quote(describe(current())));
    take();
}

std::string TokenStream::expect_name()
{
    if (current().kind != Token::Kind::Name)
        fail("expected token 'name', got " + quote(describe(current())));
    return take().text;
}

}  // namespace engine::jinja
