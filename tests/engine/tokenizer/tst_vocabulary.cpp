// Tests that the vocabulary in a model file is read, repaired with a warning where that is possible, and else refused
// with a sentence.
#include "engine/gguf/gguf_file.h"
#include "engine/tokenizer/tokenizer.h"
#include "tests/support/gguf_writer.h"
#include "tests/support/test_program.h"

#include <QTemporaryDir>
#include <QTest>

using engine::Vocabulary;
using support::GgufWriter;

namespace {

const std::vector<std::string> kTokens = {"<unk>", "<s>", "</s>", "a", "b", "ab"};

GgufWriter spm()
{
    GgufWriter w;
    w.string("general.architecture", "llama").string("tokenizer.ggml.model", "llama");
    w.strings("tokenizer.ggml.tokens", kTokens);
    return w;
}

}  // namespace

class TestVocabulary : public QObject
{
    Q_OBJECT

    QTemporaryDir m_folder;

    engine::Result<Vocabulary> read(const GgufWriter& w)
    {
        const std::filesystem::path path = std::filesystem::path(m_folder.path().toStdU16String()) / "vocabulary.gguf";
        w.save(path);
        const auto file = engine::GgufFile::open(path);
        if (!file)
            return tl::unexpected(file.error());
        return engine::read_vocabulary(*file);
    }

    std::string sentence(const GgufWriter& w)
    {
        const auto vocabulary = read(w);
        return vocabulary ? std::string() : vocabulary.error().what;
    }

private Q_SLOTS:
    void everythingIsRead()
    {
        GgufWriter w = spm();
        w.string("general.name", "Tiny").string("tokenizer.ggml.pre", "qwen2");
        w.floats("tokenizer.ggml.scores", std::vector<float>{0, 0, 0, -1, -2, -3});
        w.i32s("tokenizer.ggml.token_type", std::vector<std::int32_t>{2, 3, 3, 1, 4, 6});
        w.strings("tokenizer.ggml.merges", std::vector<std::string>{"a b"});
        w.u32("tokenizer.ggml.bos_token_id", 3).u32("tokenizer.ggml.eos_token_id", 4);
        w.u32("tokenizer.ggml.unknown_token_id", 5).u32("tokenizer.ggml.eot_token_id", 0);
        w.u32("tokenizer.ggml.eom_token_id", 1).u32("tokenizer.ggml.padding_token_id", 2);
        w.boolean("tokenizer.ggml.add_bos_token", false).boolean("tokenizer.ggml.add_eos_token", true);
        w.boolean("tokenizer.ggml.add_space_prefix", false);
        w.u32("tokenizer.ggml.fim_pre_token_id", 1).u32("tokenizer.ggml.fim_suf_token_id", 4);
        w.u32("tokenizer.ggml.fim_mid_token_id", 5);
        w.i32s("tokenizer.ggml.eos_token_ids", std::vector<std::int32_t>{4, 6, 2, -1});
        const auto v = read(w);
        QVERIFY2(v.has_value(), v ? "" : v.error().what.c_str());
        QCOMPARE(v->model, std::string("llama"));
        QCOMPARE(v->pre, std::string("qwen2"));
        QCOMPARE(v->model_name, std::string("Tiny"));
        QCOMPARE(v->tokens, kTokens);
        QCOMPARE(v->scores, (std::vector<float>{0, 0, 0, -1, -2, -3}));
        QVERIFY(v->types[0] == engine::TokenType::Unknown && v->types[5] == engine::TokenType::Byte);
        QCOMPARE(v->merges, std::vector<std::string>{"a b"});
        QCOMPARE((std::vector<int>{v->bos, v->eos, v->unk, v->eot, v->eom, v->pad}),
                 (std::vector<int>{3, 4, 5, 0, 1, 2}));
        QCOMPARE((std::vector<int>{v->fim_pre, v->fim_suf, v->fim_mid}), (std::vector<int>{1, 4, 5}));
        QCOMPARE(v->more_ends, (std::vector<int>{4, 2}));  // the others are no tokens
        QVERIFY(v->add_bos == Vocabulary::Flag::No && v->add_eos == Vocabulary::Flag::Yes);
        QVERIFY(v->add_space_prefix == Vocabulary::Flag::No);
        QVERIFY(v->warnings.empty());
    }

    void whatOldFilesDoNotSay()
    {
        const auto v = read(spm());
        QVERIFY(v.has_value());
        QCOMPARE((std::vector<int>{v->bos, v->eos, v->unk, v->eot}), (std::vector<int>{1, 2, 0, engine::kNoToken}));
        QVERIFY(v->add_bos == Vocabulary::Flag::Unsaid);
        const auto t = engine::Tokenizer::make(*v);
        QVERIFY((*t)->adds_bos());

        GgufWriter bpe;
        bpe.string("tokenizer.ggml.model", "gpt2").strings("tokenizer.ggml.tokens", kTokens);
        QCOMPARE(read(bpe)->bos, engine::kNoToken);
    }

    void badOnesSayWhy()
    {
        QCOMPARE(sentence(GgufWriter()), std::string("the model file has no tokenizer"));
        GgufWriter number;
        number.u32("tokenizer.ggml.model", 3).strings("tokenizer.ggml.tokens", kTokens);
        QCOMPARE(sentence(number), std::string("the model file has no tokenizer"));

        GgufWriter none;
        none.string("tokenizer.ggml.model", "llama");
        QCOMPARE(sentence(none), std::string("the model has no tokens"));
        none.strings("tokenizer.ggml.tokens", std::vector<std::string>());
        QCOMPARE(sentence(none), std::string("the model has no tokens"));
        GgufWriter wrong;
        wrong.string("tokenizer.ggml.model", "llama").i32s("tokenizer.ggml.tokens", std::vector<std::int32_t>{1});
        QCOMPARE(sentence(wrong), std::string("the model has no tokens"));

        GgufWriter scores = spm();
        scores.floats("tokenizer.ggml.scores", std::vector<float>{0});
        QCOMPARE(sentence(scores), std::string("the model has 1 token scores for 6 tokens"));
        GgufWriter types = spm();
        types.i32s("tokenizer.ggml.token_type", std::vector<std::int32_t>{1, 1});
        QCOMPARE(sentence(types), std::string("the model has 2 token types for 6 tokens"));
    }

    void oddOnesAreRepaired()
    {
        GgufWriter w = spm();
        w.floats("tokenizer.ggml.scores", std::vector<float>(10));
        w.i32s("tokenizer.ggml.token_type", std::vector<std::int32_t>{1, 2, 3, -5, 99, 0, 1, 1});
        w.u32("tokenizer.ggml.bos_token_id", 6);
        w.i64("tokenizer.ggml.eos_token_id", std::numeric_limits<std::int64_t>::min());
        w.u64("tokenizer.ggml.eot_token_id", std::numeric_limits<std::uint64_t>::max());
        w.u32("tokenizer.ggml.padding_token_id", std::numeric_limits<std::uint32_t>::max());
        const auto v = read(w);
        QVERIFY2(v.has_value(), v ? "" : v.error().what.c_str());
        QCOMPARE(v->scores.size(), kTokens.size());
        QCOMPARE(v->types.size(), kTokens.size());
        for (const std::size_t id : {3, 4, 5})
            QVERIFY(v->types[id] == engine::TokenType::Normal);
        QCOMPARE((std::vector<int>{v->bos, v->eos, v->eot, v->pad}), std::vector<int>(4, engine::kNoToken));
        QCOMPARE(v->warnings.size(), std::size_t(2));
        QCOMPARE(v->warnings.front(), std::string("tokenizer.ggml.bos_token_id is 6, which is not a token"));
    }
};

SPILLWAY_TEST(QCoreApplication, TestVocabulary)
#include "tst_vocabulary.moc"
