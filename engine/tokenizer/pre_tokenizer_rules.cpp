// The patterns, and the names that select them. They are facts about the models: patterns as in each model's own
// tokenizer.json, names and the rest as llama.cpp reads them (src/llama-vocab.cpp). Where llama.cpp had to rewrite a
// pattern for std::regex, which knows no \p{Lu}, the model's own stands here.
#include "engine/tokenizer/pre_tokenizer_rules.h"

#include <array>

namespace engine {

namespace {

using Name = std::string_view;
using Pattern = std::string_view;

// Building blocks; adjacent literals join.
#define CONTRACTIONS "'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD]"
#define WORD R"([^\r\n\p{L}\p{N}]?\p{L}+)"
#define SPACES R"(\s*[\r\n]+|\s+(?!\S)|\s+)"
#define SIGNS R"( ?[^\s\p{L}\p{N}]+[\r\n]*)"
#define UPPER R"([\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}])"
#define LOWER R"([\p{Ll}\p{Lm}\p{Lo}\p{M}])"
#define CASED_WORD(ENDING)                                                                                             \
    R"([^\r\n\p{L}\p{N}]?)" UPPER "*" LOWER "+" ENDING R"(|[^\r\n\p{L}\p{N}]?)" UPPER "+" LOWER "*" ENDING
#define ASCII_SIGNS R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~])"
#define KANA_AND_HAN R"([\x{4e00}-\x{9fa5}\x{3040}-\x{309f}\x{30a0}-\x{30ff}]+)"
#define HAN_AND_HANGUL R"([\x{4e00}-\x{9fa5}\x{800}-\x{4e00}\x{ac00}-\x{d7ff}]+)"

constexpr Pattern kGpt2Words = R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S))";
constexpr Pattern kLlama3Words = CONTRACTIONS "|" WORD R"(|\p{N}{1,3}|)" SIGNS "|" SPACES;
constexpr Pattern kQwen2Words = CONTRACTIONS "|" WORD R"(|\p{N}|)" SIGNS "|" SPACES;
constexpr Pattern kGpt4oWords = CASED_WORD("(?:" CONTRACTIONS ")?") R"(|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|)" SPACES;

constexpr std::array kGpt2{kGpt2Words};
constexpr std::array<Name, 19> kGpt2Names{"gpt-2",      "phi-2",      "jina-es",      "jina-de",    "gigachat",
                                          "jina-v2-es", "jina-v2-de", "a.x-4.0",      "mellum",     "modern-bert",
                                          "mpt",        "olmo",       "jais",         "trillion",   "granite-docling",
                                          "exaone4",    "jina-v1-en", "jina-v2-code", "roberta-bpe"};

constexpr std::array kLlama3{kLlama3Words};
constexpr std::array<Name, 9> kLlama3Names{"llama3",  "llama-v3", "llama-bpe", "falcon3",     "falcon-h1",
                                           "pixtral", "midm-2.0", "lfm2",      "jina-v5-nano"};
// As Llama 3, but the tokens are always made by merges, and BOS is not added unasked.
constexpr std::array<Name, 4> kDbrxNames{"dbrx", "smaug-bpe", "glm4", "chatglm-bpe"};

constexpr std::array kQwen2{kQwen2Words};
constexpr std::array<Name, 9> kQwen2Names{"qwen2",   "deepseek-r1-qwen", "kormo",      "f2llmv2", "stablelm2",
                                          "hunyuan", "megrez",           "solar-open", "grok-2"};

constexpr std::array<Pattern, 1> kQwen35{
    CONTRACTIONS R"(|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|)" SPACES};
constexpr std::array<Name, 1> kQwen35Names{"qwen35"};

constexpr std::array kGpt4o{kGpt4oWords};
constexpr std::array<Name, 5> kGpt4oNames{"gpt-4o", "llama4", "kanana2", "talkie", "minimax-m2"};
constexpr std::array<Name, 1> kGraniteEmbedNames{"granite-embed-multi-97m"};

constexpr std::array<Pattern, 1> kTekken{CASED_WORD("") R"(|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|)" SPACES};
constexpr std::array<Name, 1> kTekkenNames{"tekken"};

constexpr std::array<Pattern, 2> kStarcoder{R"(\p{N})", kGpt2Words};
constexpr std::array<Name, 8> kStarcoderNames{"starcoder", "refact", "command-r",  "smollm",
                                              "codeshell", "exaone", "minerva-7b", "mellum2"};

constexpr std::array<Pattern, 3> kFalcon{R"([\p{P}$+<=>^~|`]+)", kGpt2Words, "[0-9][0-9][0-9]"};
constexpr std::array<Name, 1> kFalconNames{"falcon"};

// The letters are those with two cases, less some scripts that the model's makers left out. (?<!\s) before the last
// pattern changes nothing but the time that a long run of spaces takes.
constexpr std::array<Pattern, 6> kDeepseekLlm{
    R"([\r\n])",
    R"(\s?[A-Za-z\x{b5}\x{c0}-\x{d6}\x{d8}-\x{f6}\x{f8}-\x{1ba}\x{1bc}-\x{1bf}\x{1c4}-\x{293}\x{295}-\x{2af})"
    R"(\x{370}-\x{373}\x{376}\x{377}\x{37b}-\x{37d}\x{37f}\x{386}\x{388}-\x{38a}\x{38c}\x{38e}-\x{3a1})"
    R"(\x{3a3}-\x{3f5}\x{3f7}-\x{481}\x{48a}-\x{52f}\x{531}-\x{556}\x{10a0}-\x{10c5}\x{13a0}-\x{13f5})"
    R"(\x{13f8}-\x{13fd}\x{1c90}-\x{1cba}\x{1cbd}-\x{1cbf}\x{1d00}-\x{1d2b}\x{1d6b}-\x{1d77}\x{1d79}-\x{1d9a})"
    R"(\x{1e00}-\x{1f15}\x{1f18}-\x{1f1d}\x{1f20}-\x{1f45}\x{1f48}-\x{1f4d}\x{1f50}-\x{1f57}\x{1f59}\x{1f5b})"
    R"(\x{1f5d}\x{1f5f}-\x{1f7d}\x{1f80}-\x{1fb4}\x{1fb6}-\x{1fbc}\x{1fbe}\x{1fc2}-\x{1fc4}\x{1fc6}-\x{1fcc})"
    R"(\x{1fd0}-\x{1fd3}\x{1fd6}-\x{1fdb}\x{1fe0}-\x{1fec}\x{1ff2}-\x{1ff4}\x{1ff6}-\x{1ffc}\x{2102}\x{2107})"
    R"(\x{210a}-\x{2113}\x{2115}\x{2119}-\x{211d}\x{2124}\x{2126}\x{2128}\x{212a}-\x{212d}\x{212f}-\x{2134})"
    R"(\x{2139}\x{213c}-\x{213f}\x{2145}-\x{2149}\x{214e}\x{2183}\x{2184}\x{2c00}-\x{2c7b}\x{2c7e}-\x{2ce4})"
    R"(\x{2ceb}-\x{2cee}\x{2cf2}\x{2cf3}\x{a640}-\x{a66d}\x{a680}-\x{a69b}\x{a722}-\x{a76f}\x{a771}-\x{a787})"
    R"(\x{a78b}-\x{a78e}\x{ab70}-\x{abbf}\x{fb00}-\x{fb06}\x{fb13}-\x{fb17}\x{ff21}-\x{ff3a}\x{ff41}-\x{ff5a})"
    R"(\x{10400}-\x{1044f}\x{104b0}-\x{104d3}\x{104d8}-\x{104fb}\x{10c80}-\x{10cb2}\x{10cc0}-\x{10cf2})"
    R"(\x{118a0}-\x{118df}\x{1e900}-\x{1e943}]+)",
    R"(\s?[!-/:-~\x{ff01}-\x{ff0f}\x{ff1a}-\x{ff5e}\x{2018}-\x{201f}\x{3000}-\x{3002}]+)",
    R"((?<!\s)\s+$)",
    HAN_AND_HANGUL,
    R"(\p{N}+)",
};
constexpr std::array<Name, 1> kDeepseekLlmNames{"deepseek-llm"};

constexpr std::array<Pattern, 5> kDeepseekCoder{R"([\r\n])", R"(\s?\p{L}+)", R"(\s?\p{P}+)", HAN_AND_HANGUL,
                                                R"(\p{N})"};
constexpr std::array<Name, 1> kDeepseekCoderNames{"deepseek-coder"};

constexpr std::array<Pattern, 3> kDeepseek3{
    R"(\p{N}{1,3})", KANA_AND_HAN,
    ASCII_SIGNS R"([A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|)" SPACES};
constexpr std::array<Name, 4> kDeepseek3Names{"deepseek-v3", "hunyuan-dense", "joyai-llm", "hy_v4"};

constexpr std::array<Pattern, 2> kYoutu{
    R"([\x{ac00}-\x{d7a3}\x{3131}-\x{318e}]+|)"
    R"([\x{ff01}\x{2026}\x{201c}\x{201d}\x{2018}\x{2019}\x{2014}\x{ff1a}\x{ff1b}\x{ff0c}\x{3001}-\x{303f})"
    R"(\x{fe30}-\x{fe4f}]+|[\x{3105}-\x{312f}]+|)" KANA_AND_HAN,
    CASED_WORD("(?:" CONTRACTIONS ")?") R"(|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|)" SPACES};
constexpr std::array<Name, 1> kYoutuNames{"youtu"};

constexpr std::array<Pattern, 1> kBloom{R"( ?[^(\s|.,!?\x{2026}\x{3002}\x{ff0c}\x{3001}\x{964}\x{6d4}\x{60c})]+)"};
constexpr std::array<Name, 3> kBloomNames{"bloom", "poro-chat", "gpt3-finnish"};
constexpr std::array<Pattern, 2> kViking{kBloom[0], R"(\p{N})"};
constexpr std::array<Name, 1> kVikingNames{"viking"};

constexpr std::array<Pattern, 1> kBailing{"'(?:[sSdDmMtT]|[lL][lL]|[vV][eE]|[rR][eE])|" WORD R"(|\p{N}|)" SIGNS
                                          R"(|\s*[\r\n]|\s+(?!\S)|\s+)"};
constexpr std::array<Name, 3> kBailingNames{"bailingmoe", "bailingmoe2", "llada-moe"};

constexpr std::array<Pattern, 1> kSeedCoder{CONTRACTIONS "|" WORD R"(|\p{N}| ?[^\s\p{L}\p{N}\r\n]+|)" SPACES};
constexpr std::array<Name, 1> kSeedCoderNames{"seed-coder"};

constexpr std::array<Pattern, 2> kMinicpm5{R"(\p{N}{1,3})", CONTRACTIONS "|" WORD R"(|\p{N}+|)" SIGNS "|" SPACES};
constexpr std::array<Name, 1> kMinicpm5Names{"minicpm5"};

// Possessive where nothing could be given back: otherwise a long text would need a deep stack.
constexpr std::array<Pattern, 1> kExaoneMoe{
    CONTRACTIONS R"(|[^\r\n\p{L}\p{N}]?(?:\p{L}\p{M}*+(?: \p{L}\p{M}*+)*+)++|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]?|)"
                 R"(\s*[\r\n]|\s+(?!\S)|\s+)"};
constexpr std::array<Name, 1> kExaoneMoeNames{"exaone-moe"};

constexpr std::array<Pattern, 2> kLaguna{R"([^\n]+|[\n]+)", kQwen2Words};
constexpr std::array<Name, 1> kLagunaNames{"laguna"};

// Byte pairs over SentencePiece's spelling: the merges run over whole lines.
constexpr std::array<Pattern, 1> kLines{R"([^\n]+|[\n]+)"};
constexpr std::array<Name, 2> kGemma4Names{"gemma4", "granite-embed-multi-311m"};
constexpr std::array<Name, 1> kSarvamNames{"sarvam-moe"};

constexpr std::array<Pattern, 2> kAfmoe{
    R"([\x{4e00}-\x{9fff}\x{3400}-\x{4dbf}\x{f900}-\x{faff}\x{3040}-\x{309f}\x{30a0}-\x{30ff}\x{ff65}-\x{ff9f})"
    R"(\x{2f00}-\x{2fdf}\x{e40}-\x{e7f}\x{e80}-\x{eff}\x{1780}-\x{17ff}\x{1000}-\x{109f}\x{aa60}-\x{aa7f})"
    R"(\x{a9e0}-\x{a9ff}\x{ac00}-\x{d7af}\x{1100}-\x{11ff}]+)",
    kDeepseek3[2]};
constexpr std::array<Name, 1> kAfmoeNames{"afmoe"};

constexpr std::array<Name, 2> kTinyAyaNames{"tiny_aya", "cohere2moe"};
constexpr std::array<Name, 1> kSuperbpeNames{"superbpe"};

constexpr std::array<Pattern, 4> kSpark{
    R"(\p{N}{1,3})", KANA_AND_HAN,
    ASCII_SIGNS R"([A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+|[\r\n]|\s+(?!\S)|\s+)", R"(\p{N})"};
constexpr std::array<Name, 1> kSparkNames{"spark2_5"};

constexpr std::array<Pattern, 1> kUfakzeka{WORD R"(|\p{N}|)" SIGNS "|" SPACES};
constexpr std::array<Name, 1> kUfakzekaNames{"ufakzeka"};

constexpr std::array<Pattern, 6> kChameleon{"<sentinel:[0-9]+>", "IMGIMG[A-I]{1,4}Z",       R"([\t\n]|    |  )",
                                            R"(\p{N})",          R"([\p{P}!-/:-@\[-`{-~])", kGpt2Words};
constexpr std::array<Name, 1> kChameleonNames{"chameleon"};

// Letters but Han. PCRE2 cannot subtract one class from another, so these are what is in no other class.
#define UPPER_NOT_HAN R"([^\p{sc:Han}\p{Ll}\p{C}\p{N}\p{P}\p{S}\p{Z}])"
#define LOWER_NOT_HAN R"([^\p{sc:Han}\p{Lu}\p{Lt}\p{C}\p{N}\p{P}\p{S}\p{Z}])"
constexpr std::array<Pattern, 1> kKimi{R"(\p{sc:Han}+|[^\r\n\p{L}\p{N}]?)" UPPER_NOT_HAN "*" LOWER_NOT_HAN
                                       "+(?:" CONTRACTIONS R"()?|[^\r\n\p{L}\p{N}]?)" UPPER_NOT_HAN "+" LOWER_NOT_HAN
                                       "*(?:" CONTRACTIONS R"()?|\p{N}{1,3}|)" SIGNS "|" SPACES};
constexpr std::array<Name, 1> kKimiNames{"kimi-k2"};

constexpr std::array<Pattern, 4> kDefault{R"([\p{P}$+<=>^~|]+)", kGpt2Words, R"(\p{N}+)", "[0-9][0-9][0-9]"};
constexpr std::array<Name, 1> kDefaultNames{"default"};

constexpr std::array kRules{
    PreTokenizerRule{.names = kDefaultNames, .patterns = kDefault},
    PreTokenizerRule{.names = kLlama3Names, .patterns = kLlama3, .whole_words_first = true, .add_bos = true},
    PreTokenizerRule{.names = kDbrxNames, .patterns = kLlama3},
    PreTokenizerRule{.names = kQwen2Names, .patterns = kQwen2},
    PreTokenizerRule{.names = kQwen35Names, .patterns = kQwen35},
    PreTokenizerRule{.names = kGpt2Names, .patterns = kGpt2},
    PreTokenizerRule{.names = kStarcoderNames, .patterns = kStarcoder},
    PreTokenizerRule{.names = kGpt4oNames, .patterns = kGpt4o},
    PreTokenizerRule{.names = kGraniteEmbedNames, .patterns = kGpt4o, .whole_words_first = true},
    PreTokenizerRule{.names = kTekkenNames, .patterns = kTekken, .whole_words_first = true, .add_bos = true},
    PreTokenizerRule{.names = kFalconNames, .patterns = kFalcon},
    PreTokenizerRule{.names = kDeepseekLlmNames, .patterns = kDeepseekLlm},
    PreTokenizerRule{.names = kDeepseekCoderNames, .patterns = kDeepseekCoder},
    PreTokenizerRule{.names = kDeepseek3Names, .patterns = kDeepseek3},
    PreTokenizerRule{.names = kYoutuNames, .patterns = kYoutu, .whole_words_first = true},
    PreTokenizerRule{.names = kBloomNames, .patterns = kBloom},
    PreTokenizerRule{.names = kVikingNames, .patterns = kViking},
    PreTokenizerRule{.names = kBailingNames, .patterns = kBailing},
    PreTokenizerRule{.names = kSeedCoderNames, .patterns = kSeedCoder},
    PreTokenizerRule{.names = kMinicpm5Names, .patterns = kMinicpm5, .whole_words_first = true},
    PreTokenizerRule{.names = kExaoneMoeNames, .patterns = kExaoneMoe},
    PreTokenizerRule{.names = kLagunaNames, .patterns = kLaguna},
    PreTokenizerRule{.names = kAfmoeNames, .thousands = R"(\p{N}++)", .patterns = kAfmoe},
    PreTokenizerRule{
        .names = kTinyAyaNames, .thousands = R"((?<!\d)\d++(?![\p{L}\p{M}\p{Nl}\p{Pc}]))", .patterns = kGpt4o},
    PreTokenizerRule{.names = kSuperbpeNames, .thousands = R"(\p{N}++)"},
    PreTokenizerRule{.names = kSparkNames, .patterns = kSpark},
    PreTokenizerRule{.names = kUfakzekaNames, .patterns = kUfakzeka},
    PreTokenizerRule{.names = kChameleonNames, .patterns = kChameleon, .add_bos = true},
    PreTokenizerRule{.names = kKimiNames, .patterns = kKimi},
    PreTokenizerRule{.names = kGemma4Names, .patterns = kLines, .form = WordForm::EscapedSpaces, .add_bos = true},
    PreTokenizerRule{.names = kSarvamNames, .patterns = kLines, .form = WordForm::EscapedSpaces},
};

}  // namespace

const PreTokenizerRule* find_pre_tokenizer_rule(std::string_view name)
{
    for (const PreTokenizerRule& rule : kRules)
        for (const std::string_view known : rule.names)
            if (known == name)
                return &rule;
    return nullptr;
}

const PreTokenizerRule& default_pre_tokenizer_rule()
{
    return kRules.front();
}

std::span<const PreTokenizerRule> all_pre_tokenizer_rules()
{
    return kRules;
}

}  // namespace engine
