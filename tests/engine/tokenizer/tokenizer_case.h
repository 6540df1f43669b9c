// Makes small vocabularies and odd texts, for tests of the tokenizer.
#pragma once

#include "engine/tokenizer/tokenizer.h"
#include "tests/support/vocabulary_json.h"

#include <QRandomGenerator>
#include <QTest>

#include <memory>
#include <string>
#include <vector>

namespace test_support {

inline const engine::EncodeOptions kParse{.specials = engine::EncodeOptions::Specials::Parse};

inline engine::Vocabulary fromData(const char* name)
{
    const auto file = support::read_json(std::string(SPILLWAY_SOURCE_DIR "/tests/data/tokenizer/") + name);
    return support::vocabulary_from(file.at("vocabulary"));
}

inline std::unique_ptr<const engine::Tokenizer> make(engine::Vocabulary vocabulary)
{
    auto made = engine::Tokenizer::make(std::move(vocabulary));
    if (!made)
        qFatal("%s", made.error().what.c_str());
    return std::move(*made);
}

inline std::unique_ptr<const engine::Tokenizer> withTokens(std::vector<std::string> more, engine::TokenType type,
                                                           const char* base = "spm.json")
{
    engine::Vocabulary v = fromData(base);
    for (std::string& text : more) {
        v.tokens.push_back(std::move(text));
        v.types.push_back(type);
        if (!v.scores.empty())
            v.scores.push_back(-1000);
    }
    return make(std::move(v));
}

inline void families()
{
    QTest::addColumn<QString>("name");
    for (const char* name : {"spm.json", "bpe.json", "gemma4.json"})
        QTest::newRow(name) << name;
}

inline QRandomGenerator seeded()
{
    const quint32 seed = QRandomGenerator::global()->generate();
    qInfo("seed %u", seed);
    return QRandomGenerator(seed);
}

/// Returns text, parts of characters, spaces and special tokens in any order.
inline std::string randomBytes(QRandomGenerator& random)
{
    static const std::vector<std::string> parts = {
        "the",      " read",       "a", "W", " ",    "  ",    "\n",  "\n\n", "\t", "\r\n", "\xc3\xa4", "\xe4\xbd\xa0",
        "\xf0\x9f", "\xa6\x99",    "~", "1", "2345", "<tag>", "<s>", "'s",   "!",  ".",    "\xff",     "\xe2\x96\x81",
        "\xe2\x96", "\xed\xa0\x80"};
    std::string text;
    for (int i = random.bounded(16); i > 0; --i)
        text += parts[std::size_t(random.bounded(int(parts.size())))];
    return text;
}

}  // namespace test_support
