// Finds the tokens around a gap in a text: those that the file names, else those with texts that many models share.
#pragma once

#include "engine/fill_marks.h"
#include "engine/tokenizer/token_index.h"
#include "engine/tokenizer/vocabulary.h"

#include <array>

namespace engine {

// The lists are those that llama.cpp goes by (src/llama-vocab.cpp), since that is what the files are made for and tried
// with.
inline constexpr std::array kFillPrefixTexts = {"<|fim_prefix|>", "<fim-prefix>", "<fim_prefix>",    "<｜fim▁begin｜>",
                                                "<PRE>",          "▁<PRE>",       "<|code_prefix|>", "<|prefix|>"};
inline constexpr std::array kFillSuffixTexts = {"<|fim_suffix|>", "<fim-suffix>", "<fim_suffix>",    "<｜fim▁hole｜>",
                                                "<SUF>",          "▁<SUF>",       "<|code_suffix|>", "<|suffix|>"};
inline constexpr std::array kFillMiddleTexts = {"<|fim_middle|>", "<fim-middle>", "<fim_middle>",    "<｜fim▁end｜>",
                                                "<MID>",          "▁<MID>",       "<|code_middle|>", "<|middle|>"};
inline constexpr std::array kFillRepositoryTexts = {"<|fim_repo|>", "<|repo_name|>", "<fim-repo>",
                                                    "<REPO>",       "<reponame>",    "<repo_name>"};
// The last two are StarCoder 2's and CodeGemma's.
inline constexpr std::array kFillFileTexts = {"<|file_sep|>", "<file_sep>", "<|file_separator|>"};

/// Returns the marks of a vocabulary: none, where one that is needed is missing.
FillMarks find_fill_marks(const Vocabulary& vocabulary, const TokenIndex& index);

}  // namespace engine
