#include "engine/tokenizer/fill_marks.h"

#include <algorithm>
#include <cctype>
#include <span>
#include <string>

namespace engine {

namespace {

/// The file's own choice counts before the well-known texts, of which the first one found is taken.
int mark_of(const TokenIndex& index, int named, std::span<const char* const> texts)
{
    for (std::size_t i = 0; named == kNoToken && i < texts.size(); ++i)
        named = index.find(texts[i]);
    return named;
}

/// Mistral's other models have the tokens of Codestral as well, and were never taught to fill gaps.
bool is_codestral(std::string name)
{
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return char(std::tolower(c)); });
    return name.find("codestral") != std::string::npos;
}

}  // namespace

FillMarks find_fill_marks(const Vocabulary& vocabulary, const TokenIndex& index)
{
    FillMarks marks;
    marks.prefix = mark_of(index, vocabulary.fim_pre, kFillPrefixTexts);
    marks.suffix = mark_of(index, vocabulary.fim_suf, kFillSuffixTexts);
    marks.middle = mark_of(index, vocabulary.fim_mid, kFillMiddleTexts);
    if (marks.are_there() && marks.middle != kNoToken) {
        marks.file = mark_of(index, vocabulary.fim_sep, kFillFileTexts);
        marks.repository = mark_of(index, vocabulary.fim_rep, kFillRepositoryTexts);
        return marks;
    }
    marks = {};
    if (is_codestral(vocabulary.model_name)) {
        marks.prefix = index.find("[PREFIX]");
        marks.suffix = index.find("[SUFFIX]");
    }
    return marks.are_there() ? marks : FillMarks();
}

}  // namespace engine
