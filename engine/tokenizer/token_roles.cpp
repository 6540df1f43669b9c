// Says what each token is for. The lists of well-known texts are those that llama.cpp goes by (src/llama-vocab.cpp),
// since that is what the files are made for and tried with.
#include "engine/tokenizer/token_roles.h"

#include "engine/tokenizer/fill_marks.h"
#include "engine/tokenizer/reasoning_marks.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

namespace engine {

namespace {

constexpr std::array kEndTexts = {
    "<|eot_id|>",    "<|im_end|>",
    "<|end|>",       "<|return|>",
    "<|call|>",      "<|flush|>",
    "<|calls|>",     "<end_of_turn>",
    "<|endoftext|>", "</s>",
    "<|eom_id|>",    "<EOT>",
    "_<EOT>",        "[EOT]",
    "[EOS]",         "<|end_of_text|>",
    "<eos>",         "<end_of_utterance>",
    "<turn|>",       "<|tool_response>",
    "[e~[",          "<｜end▁of▁sentence｜>",
    "<|eot|>",       "▁<EOT>",
};

// Padding of fill-in-the-middle models: where it appears, or a mark of a repository or a file, the completion is over.
constexpr std::array kFillPadTexts = {"<|fim_pad|>", "<fim-pad>", "<fim_pad>", "<PAD>", "[PAD]"};

// The texts that the marks of gpt-oss and Muse Glimmer consist of.
constexpr std::array kChannelTexts = {"<|channel|>", "<|message|>", "<|start|>", "<|constrain|>"};

class RoleTable
{
public:
    RoleTable(const Vocabulary& vocabulary, const TokenIndex& index)
        : index_(index)
        , roles(vocabulary.tokens.size())
    {
    }

    TokenRole* at(int id) { return id >= 0 && std::size_t(id) < roles.size() ? &roles[std::size_t(id)] : nullptr; }
    TokenRole* with_text(std::string_view text) { return at(index_.find(text)); }

    void make_control(TokenRole& role)
    {
        role.special = true;
        role.shown = false;
        role.always_parsed = false;
        role.byte = false;
    }

    void make_end(TokenRole& role)
    {
        make_control(role);
        role.ends_generation = true;
    }

    /// The token that the file names counts before the well-known texts, of which the first one found is taken.
    template <std::size_t N>
    void make_end_of_fill(int id, const std::array<const char*, N>& texts)
    {
        TokenRole* role = at(id);
        for (std::size_t i = 0; !role && i < N; ++i)
            role = with_text(texts[i]);
        if (role)
            make_end(*role);
    }

private:
    const TokenIndex& index_;

public:
    std::vector<TokenRole> roles;
};

TokenRole role_of(TokenType type)
{
    switch (type) {
    case TokenType::Unknown:
    case TokenType::Control:
        return {.special = true, .shown = false};
    case TokenType::UserDefined:
        return {.always_parsed = true};
    case TokenType::Byte:
        return {.byte = true};
    case TokenType::Normal:
    case TokenType::Unused:
        break;
    }
    return {};
}

bool is_phi3(std::string name)
{
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return char(std::tolower(c)); });
    return name.find("phi-3") != std::string::npos || name.find("phi3") != std::string::npos;
}

/// Phi-3's special tokens include the white space behind them, which the file format cannot say.
void swallow_space_like_phi3(RoleTable& table)
{
    for (TokenRole& role : table.roles)
        role.swallows_space = role.special || role.always_parsed;
    for (const char* text : {"<unk>", "<s>", "<|endoftext|>"})
        if (TokenRole* role = table.with_text(text))
            role->swallows_space = false;
}

/// gpt-oss and Solar end a message with <|end|>, Muse Glimmer with <|eom|>, and go on with the next one in the same
/// turn.
void let_channels_continue(RoleTable& table)
{
    const auto has = [&](const char* text) { return table.with_text(text) != nullptr; };
    const bool call = has("<|call|>") || has("<|calls|>");
    TokenRole* end = table.with_text("<|end|>");
    if (end && call && (has("<|return|>") || has("<|flush|>"))) {
        end->ends_generation = false;
        end->shown = true;
    }
    TokenRole* thought_end = table.with_text("<|eom|>");
    if (thought_end && has("<|message|>") && has("<|eot|>")) {
        table.make_control(*thought_end);
        thought_end->ends_generation = false;
        thought_end->shown = true;
    }
    for (const char* text : kChannelTexts)
        if (TokenRole* role = table.with_text(text)) {
            table.make_control(*role);
            role->shown = true;
        }
}

/// Mistral's [THINK] and the like are control tokens in some files: a user still cannot type them, but they are shown.
void show_reasoning_marks(RoleTable& table)
{
    for (const std::string_view text : single_token_marks())
        if (TokenRole* role = table.with_text(text); role && !role->ends_generation)
            role->shown = true;
}

}  // namespace

std::vector<TokenRole> assign_roles(const Vocabulary& vocabulary, const TokenIndex& index)
{
    RoleTable table(vocabulary, index);
    for (std::size_t id = 0; id < vocabulary.types.size() && id < table.roles.size(); ++id)
        table.roles[id] = role_of(vocabulary.types[id]);

    for (const auto& texts : {kFillPrefixTexts, kFillSuffixTexts, kFillMiddleTexts})
        for (const char* text : texts)
            if (TokenRole* role = table.with_text(text))
                table.make_control(*role);
    table.make_end_of_fill(vocabulary.fim_pad, kFillPadTexts);
    table.make_end_of_fill(vocabulary.fim_rep, kFillRepositoryTexts);
    table.make_end_of_fill(vocabulary.fim_sep, kFillFileTexts);

    for (const char* text : kEndTexts)
        if (TokenRole* role = table.with_text(text))
            table.make_end(*role);
    for (const int id : {vocabulary.eos, vocabulary.eot, vocabulary.eom})
        if (TokenRole* role = table.at(id))
            role->ends_generation = true;
    for (const int id : vocabulary.more_ends)
        if (TokenRole* role = table.at(id))
            role->ends_generation = true;
    let_channels_continue(table);
    show_reasoning_marks(table);

    // Gemma 4 has an ordinary "</s>", a tag of HTML.
    if (index.find("<|tool_response>") != kNoToken)
        if (const int id = index.find("</s>"); id != kNoToken && id != vocabulary.eos)
            table.roles[std::size_t(id)] = {};

    if (is_phi3(vocabulary.model_name))
        swallow_space_like_phi3(table);
    return std::move(table.roles);
}

}  // namespace engine
