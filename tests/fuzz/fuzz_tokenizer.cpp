// Tokenizes any text by any vocabulary, for libFuzzer: it neither crashes nor hangs, and its places lie in the text.
#include "engine/tokenizer/byte_alphabet.h"
#include "engine/tokenizer/pre_tokenizer_rules.h"
#include "engine/tokenizer/tokenizer.h"
#include "engine/tokenizer/utf8.h"
#include "engine/tokenizer/utf8_stream.h"

#include <cstdlib>
#include <fuzzer/FuzzedDataProvider.h>
#include <string>
#include <vector>

namespace {

using engine::Vocabulary;

void require(bool holds)
{
    if (!holds)
        std::abort();
}

void add_token(Vocabulary& v, std::string text, engine::TokenType type, float score)
{
    v.tokens.push_back(std::move(text));
    v.types.push_back(type);
    v.scores.push_back(score);
}

/// Adds the tokens of all bytes, so that not every text ends in unknown tokens.
void add_bytes(Vocabulary& v, bool letters)
{
    static constexpr char kHex[] = "0123456789ABCDEF";
    for (int byte = 0; byte < 256; ++byte) {
        if (letters)
            add_token(v, std::string(engine::byte_letter(static_cast<unsigned char>(byte))), engine::TokenType::Normal,
                      0);
        else
            add_token(v, {'<', '0', 'x', kHex[byte / 16], kHex[byte % 16], '>'}, engine::TokenType::Byte, 0);
    }
}

Vocabulary any_vocabulary(FuzzedDataProvider& data)
{
    Vocabulary v;
    v.model = data.PickValueInArray({"llama", "gpt2", "gemma4"});
    const auto rules = engine::all_pre_tokenizer_rules();
    v.pre = rules[data.ConsumeIntegralInRange<std::size_t>(0, rules.size() - 1)].names.front();
    if (data.ConsumeProbability<float>() > 0.9f)
        v.model_name = "phi3";
    if (data.ConsumeBool())
        add_bytes(v, v.model == "gpt2");
    for (int count = data.ConsumeIntegralInRange(1, 48); count > 0; --count)
        add_token(v, data.ConsumeRandomLengthString(24), engine::TokenType(data.ConsumeIntegralInRange(1, 6)),
                  float(data.ConsumeIntegral<std::int8_t>()));
    // Most merges name tokens, so that chains of them come about.
    for (int count = data.ConsumeIntegralInRange(0, 48); count > 0; --count) {
        const auto any = [&] { return v.tokens[data.ConsumeIntegralInRange<std::size_t>(0, v.tokens.size() - 1)]; };
        v.merges.push_back(data.ConsumeBool() ? any() + " " + any() : data.ConsumeRandomLengthString(16));
        if (data.ConsumeBool()) {
            std::string joined = v.merges.back();
            std::erase(joined, ' ');
            add_token(v, joined, engine::TokenType::Normal, -float(v.merges.size()));
        }
    }
    for (int* id : {&v.bos, &v.eos, &v.eot, &v.eom, &v.unk, &v.pad, &v.fim_pad, &v.fim_rep, &v.fim_sep})
        *id = data.ConsumeIntegralInRange(-2, 400);
    for (Vocabulary::Flag* flag : {&v.add_bos, &v.add_eos, &v.add_space_prefix})
        *flag = Vocabulary::Flag(data.ConsumeIntegralInRange(0, 2));
    return v;
}

void check(const engine::Tokenizer& tokenizer, std::string_view text, const engine::EncodeOptions& options)
{
    const auto tokens = tokenizer.encode(text, options);
    require(tokens.size() <= text.size() * 4 + 4);  // a space prefix of three bytes, BOS
    engine::Utf8Stream stream;
    std::string streamed;
    std::vector<int> ids;
    std::uint32_t last = 0;
    for (const engine::Token& token : tokens) {
        require(token.id >= 0 && token.id < tokenizer.size());
        require(token.begin >= last && token.begin <= text.size());
        last = token.begin;
        ids.push_back(token.id);
        streamed += stream.feed(tokenizer.piece(token.id, true));
    }
    streamed += stream.flush();
    for (std::size_t at = 0; at < streamed.size();) {
        const auto look = engine::look_at_utf8(streamed, at);
        require(look.kind == engine::Utf8Look::Kind::Character);
        at += look.bytes;
    }
    tokenizer.decode(ids, {.specials = true});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size)
{
    FuzzedDataProvider data(bytes, size);
    using Options = engine::EncodeOptions;
    Options options{.specials = Options::Specials(data.ConsumeIntegralInRange(0, 1)),
                    .start = Options::Start(data.ConsumeIntegralInRange(0, 2)),
                    .with_bos = data.ConsumeBool()};
    const auto tokenizer = engine::Tokenizer::make(any_vocabulary(data));
    const std::string text = data.ConsumeRemainingBytesAsString();
    if (tokenizer)
        check(**tokenizer, text, options);
    return 0;
}
