// Text to tokens and back.
#include "engine/tokenizer/tokenizer.h"

#include "engine/tokenizer/bpe_encoder.h"
#include "engine/tokenizer/byte_alphabet.h"
#include "engine/tokenizer/spm_encoder.h"

#include <limits>
#include <utility>

namespace engine {

Result<std::unique_ptr<const Tokenizer>> Tokenizer::make(Vocabulary vocabulary)
{
    const std::size_t count = vocabulary.tokens.size();
    if (count == 0)
        return fail(Error::Code::BadFile, "the model has no tokens");
    if (count > std::size_t(std::numeric_limits<int>::max() / 4))
        return fail(Error::Code::BadFile, "the model has an impossible number of tokens");
    if (!vocabulary.scores.empty() && vocabulary.scores.size() != count)
        return fail(Error::Code::BadFile, "the model has " + std::to_string(vocabulary.scores.size()) +
                                              " token scores for " + std::to_string(count) + " tokens");
    if (!vocabulary.types.empty() && vocabulary.types.size() != count)
        return fail(Error::Code::BadFile, "the model has " + std::to_string(vocabulary.types.size()) +
                                              " token types for " + std::to_string(count) + " tokens");

    std::unique_ptr<Tokenizer> tokenizer(new Tokenizer(std::move(vocabulary)));
    if (auto settled = tokenizer->settle(); !settled)
        return tl::unexpected(settled.error());
    return std::unique_ptr<const Tokenizer>(std::move(tokenizer));
}

Tokenizer::Tokenizer(Vocabulary vocabulary)
    : vocabulary_(std::move(vocabulary))
    , index_(vocabulary_)
    , roles_(assign_roles(vocabulary_, index_))
    , matcher_(vocabulary_, roles_)
{
}

Status Tokenizer::settle()
{
    settle_ids();
    if (index_.unreachable() > 0)
        warn(std::to_string(index_.unreachable()) + " tokens have the text of another one, or one that is too long");
    if (vocabulary_.model == "llama")
        return settle_spm();
    if (vocabulary_.model == "gpt2" || vocabulary_.model == "gemma4")
        return settle_bpe();
    if (vocabulary_.model.empty())
        return fail(Error::Code::BadFile, "the model does not say which kind of tokenizer it has");
    return fail(Error::Code::Unsupported, "tokenizers of the kind '" + vocabulary_.model.substr(0, 64) +
                                              "' are not supported; llama, gpt2 and gemma4 are");
}

void Tokenizer::settle_ids()
{
    const std::pair<int*, const char*> ids[] = {
        {&vocabulary_.bos, "bos"},         {&vocabulary_.eos, "eos"},         {&vocabulary_.eot, "eot"},
        {&vocabulary_.eom, "eom"},         {&vocabulary_.unk, "unknown"},     {&vocabulary_.pad, "padding"},
        {&vocabulary_.fim_pre, "fim_pre"}, {&vocabulary_.fim_suf, "fim_suf"}, {&vocabulary_.fim_mid, "fim_mid"},
        {&vocabulary_.fim_pad, "fim_pad"}, {&vocabulary_.fim_rep, "fim_rep"}, {&vocabulary_.fim_sep, "fim_sep"},
    };
    for (const auto& [id, name] : ids)
        if (*id != kNoToken && !has(*id)) {
            warn(std::string("the ") + name + " token is not in the vocabulary and is ignored");
            *id = kNoToken;
        }
}

void Tokenizer::settle_bos(bool unsaid)
{
    using Flag = Vocabulary::Flag;
    if (vocabulary_.add_bos == Flag::Unsaid)
        vocabulary_.add_bos = unsaid ? Flag::Yes : Flag::No;
    if (vocabulary_.add_bos == Flag::Yes && vocabulary_.bos == kNoToken) {
        vocabulary_.add_bos = Flag::No;
        warn("the model wants a BOS token and has none");
    }
    if (vocabulary_.add_eos != Flag::Yes || vocabulary_.eos == kNoToken)
        vocabulary_.add_eos = Flag::No;
}

Status Tokenizer::settle_spm()
{
    settle_bos(true);
    space_prefix_ = vocabulary_.add_space_prefix != Vocabulary::Flag::No;
    spaces_escaped_ = true;
    int missing = 0;
    for (int byte = 0; byte < 256; ++byte)
        missing += index_.byte_token(static_cast<unsigned char>(byte)) == kNoToken;
    if (missing > 0)
        warn(std::to_string(missing) + " bytes have no token: characters that need them become " +
             (vocabulary_.unk == kNoToken ? "nothing" : "the unknown token"));
    encoder_ = std::make_unique<SpmEncoder>(vocabulary_, index_, space_prefix_);
    return {};
}

Status Tokenizer::settle_bpe()
{
    if (vocabulary_.model == "gemma4")
        vocabulary_.pre = "gemma4";
    const PreTokenizerRule* rule = find_pre_tokenizer_rule(vocabulary_.pre);
    // Ollama writes "default" where it does not know the way.
    const bool unsaid = vocabulary_.pre.empty() || vocabulary_.pre == "default";
    if (!rule || unsaid) {
        rule = &default_pre_tokenizer_rule();
        warn(unsaid ? "the file does not say how text is cut into words; the default is used, and answers may suffer"
                    : "the way '" + vocabulary_.pre.substr(0, 64) +
                          "' of cutting text into words is not known; the default is used, and answers may suffer");
    }
    if (vocabulary_.pre == "gemma4" && vocabulary_.bos != kNoToken)
        vocabulary_.add_bos = Vocabulary::Flag::Yes;  // early files say no, and the model is lost without it
    settle_bos(rule->add_bos);
    spaces_escaped_ = rule->form == WordForm::EscapedSpaces;
    if (vocabulary_.merges.empty())
        return fail(Error::Code::BadFile, "the vocabulary has no merges");

    auto words = PreTokenizer::make(*rule);
    if (!words)
        return tl::unexpected(words.error());
    auto encoder = std::make_unique<BpeEncoder>(vocabulary_, index_, std::move(*words));
    if (encoder->merges().malformed() > 0)
        warn(std::to_string(encoder->merges().malformed()) + " merges are not two texts and are ignored");
    if (encoder->missing_bytes() > 0)
        warn(std::to_string(encoder->missing_bytes()) + " bytes have no token: text that needs them is not encoded");
    encoder_ = std::move(encoder);
    return {};
}

std::vector<Token> Tokenizer::encode(std::string_view text, const EncodeOptions& options) const
{
    std::vector<Token> tokens;
    const ByteRange all{0, text.size()};
    std::span<const ByteRange> within;
    if (options.specials == EncodeOptions::Specials::Parse)
        within = std::span(&all, 1);
    else if (options.specials == EncodeOptions::Specials::Within)
        within = options.within;
    bool space_due = options.start != EncodeOptions::Start::Middle;
    for (const TextSpan& span : matcher_.split(text, within)) {
        if (options.stop.stop_requested())
            return tokens;
        if (span.token != kNoToken)
            tokens.push_back({span.token, std::uint32_t(span.begin)});
        else
            encoder_->encode(text.substr(span.begin, span.end - span.begin), span.begin, space_due, tokens,
                             options.stop);
        space_due = span.token != kNoToken;
    }
    const bool has_bos = !tokens.empty() && tokens.front().id == vocabulary_.bos;
    if (options.with_bos && adds_bos() && !has_bos)
        tokens.insert(tokens.begin(), Token{vocabulary_.bos, 0});
    return tokens;
}

std::string Tokenizer::decode(std::span<const int> ids, const DecodeOptions& options) const
{
    std::string text;
    bool take_space = options.at_beginning && space_prefix_;
    for (const int id : ids) {
        std::string bytes = piece(id, options.specials);
        if (take_space && id != vocabulary_.bos) {
            if (bytes.starts_with(' '))
                bytes.erase(0, 1);
            take_space = false;
        }
        text.append(bytes);
    }
    return text;
}

std::string Tokenizer::piece(int id, bool specials) const
{
    if (!has(id))
        return {};
    const std::string& stored = vocabulary_.tokens[std::size_t(id)];
    const TokenRole& role = roles_[std::size_t(id)];
    if (role.special)
        return role.shown || specials ? stored : std::string();
    if (role.always_parsed)
        return stored;
    if (const int byte = role.byte ? byte_named_by(stored) : -1; byte >= 0)
        return std::string(1, char(byte));
    return spaces_escaped_ ? unescape_spaces(stored) : bytes_of_letters(stored);
}

std::string_view Tokenizer::text(int id) const
{
    return has(id) ? std::string_view(vocabulary_.tokens[std::size_t(id)]) : std::string_view();
}

}  // namespace engine
