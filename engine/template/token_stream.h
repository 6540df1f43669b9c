// TokenStream gives the parser the tokens of a template, one after another.
#pragma once

#include "engine/template/budget.h"
#include "engine/template/lexer.h"

#include <algorithm>

namespace engine::jinja {

/// Stands at one token and refuses what the grammar does not expect there. Owned by one Parser.
class TokenStream
{
public:
    /// The last token is End; the stream never goes past it.
    explicit TokenStream(std::vector<Token> tokens)
        : tokens_(std::move(tokens))
    {
    }

    const Token& current() const { return tokens_[at_]; }
    const Token& ahead() const { return tokens_[std::min(at_ + 1, tokens_.size() - 1)]; }
    const Token& take();

    /// Counts one level of nesting in the source, for as long as it lives. Throws where they are too many, so that
    /// neither parsing nor evaluation can overflow the stack.
    class Nested
    {
    public:
        explicit Nested(TokenStream& tokens);
        ~Nested() { --tokens_.nesting_; }
        Nested(const Nested&) = delete;
        Nested& operator=(const Nested&) = delete;

    private:
        TokenStream& tokens_;
    };

    /// Take the token where it is this one, and say whether it was.
    bool skip_operator(std::string_view symbol);
    bool skip_name(std::string_view name);

    /// Take the token; they fail where it is another one.
    void expect_operator(std::string_view symbol);
    void expect(Token::Kind kind, std::string_view what);
    std::string expect_name();

    /// Throw a TemplateError, at the line of the current token unless another one is given.
    [[noreturn]] void fail(std::string sentence) const;
    [[noreturn]] void fail(std::string sentence, int line) const { throw TemplateError(std::move(sentence), line); }

private:
    std::vector<Token> tokens_;
    std::size_t at_ = 0;
    int nesting_ = 0;
};

}  // namespace engine::jinja
