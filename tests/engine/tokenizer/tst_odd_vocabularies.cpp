// Tests that vocabularies which are not as they should be work or are refused with a sentence, and that texts which a
// careless tokenizer is slow on take no longer than others.
#include "tests/engine/tokenizer/tokenizer_case.h"
#include "tests/support/part_of_all.h"
#include "tests/support/test_program.h"

#include <cstring>
#include <ctime>
#include <functional>
#include <limits>

using engine::kNoToken;
using engine::Tokenizer;
using engine::TokenType;
using engine::Vocabulary;
using support::ids_of;
using namespace test_support;

namespace {

std::string sentenceOf(Vocabulary vocabulary)
{
    const auto made = Tokenizer::make(std::move(vocabulary));
    return made ? std::string() : made.error().what;
}

bool warns(const Tokenizer& tokenizer, const char* words)
{
    for (const std::string& sentence : tokenizer.warnings())
        if (sentence.find(words) != std::string::npos)
            return true;
    return false;
}

}  // namespace

class TestOddVocabularies : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    // ---- odd vocabularies ----

    void unusableOnesSayWhy()
    {
        QCOMPARE(sentenceOf({}), std::string("the model has no tokens"));
        Vocabulary v = fromData("bpe.json");
        v.merges.clear();
        QCOMPARE(sentenceOf(v), std::string("the vocabulary has no merges"));
        v = fromData("bpe.json");
        v.model = "bert";
        QVERIFY(sentenceOf(v).find("'bert'") != std::string::npos);
        v = fromData("spm.json");
        v.scores.pop_back();
        QVERIFY(sentenceOf(v).find("token scores") != std::string::npos);
        v = fromData("spm.json");
        v.types.push_back(TokenType::Normal);
        QVERIFY(sentenceOf(v).find("token types") != std::string::npos);
    }

    /// Which texts collide is known where a hash has no key: these do in libstdc++'s, a MurmurHash64A.
    void tokensThatWouldCollideAreFoundAtOnce()
    {
        constexpr std::uint64_t kFactor = 0xc6a4a7935bd1e995u, kSeed = 0xc70f6907u, kWanted = 4711;
        std::uint64_t inverse = 1;
        for (int i = 0; i < 6; ++i)
            inverse *= 2 - kFactor * inverse;
        const auto mixed = [](std::uint64_t value) { return value ^ (value >> 47); };  // twice: as before
        Vocabulary v = fromData("bpe.json");
        const std::size_t before = v.tokens.size();
        constexpr int kMany = 200'000;
        for (std::uint64_t first = 0; first < kMany; ++first) {
            const std::uint64_t hash = ((kSeed ^ 16 * kFactor) ^ mixed(first * kFactor) * kFactor) * kFactor;
            const std::uint64_t second = mixed((hash ^ kWanted) * inverse) * inverse;
            std::string& token = v.tokens.emplace_back(16, 0);
            std::memcpy(token.data(), &first, 8);
            std::memcpy(token.data() + 8, &second, 8);
        }
#ifdef __GLIBCXX__
        QCOMPARE(std::hash<std::string>()(v.tokens[before]), std::hash<std::string>()(v.tokens.back()));
#endif
        v.types.resize(v.tokens.size(), TokenType::Normal);
        const std::clock_t start = std::clock();
        const auto made = Tokenizer::make(std::move(v));
        const double seconds = double(std::clock() - start) / CLOCKS_PER_SEC;
        QVERIFY2(made, made ? "" : made.error().what.c_str());
        QVERIFY2(seconds < 20, qPrintable(QString::number(seconds)));
    }

    void unknownPatternIsAWarning()
    {
        Vocabulary v = fromData("bpe.json");
        v.pre = "no-such-pattern";
        const auto t = make(v);
        QVERIFY(warns(*t, "no-such-pattern"));
        v.pre = "default";
        QCOMPARE(ids_of(t->encode("Hello 1234 world...")), ids_of(make(v)->encode("Hello 1234 world...")));
        QVERIFY(warns(*make(v), "does not say how text is cut"));  // Ollama's word for what it does not know
        v.pre.clear();
        QVERIFY(warns(*make(v), "does not say how text is cut"));
    }

    void oddVocabulariesStillWork()
    {
        for (const char* name : {"spm.json", "bpe.json"}) {
            Vocabulary v = fromData(name);
            v.bos = 1 << 30;
            v.eos = -7;
            v.tokens.push_back(v.tokens[40]);                      // twice the same
            v.tokens.emplace_back(100'000, 'a');                   // huge
            v.tokens.push_back("");                                // nothing
            v.tokens.push_back(std::string("\xff\xfe\0\x80", 4));  // not text
            v.types.resize(v.tokens.size(), TokenType::UserDefined);
            if (!v.scores.empty())
                v.scores.resize(v.tokens.size(), std::numeric_limits<float>::quiet_NaN());
            for (const char* merge : {"", " ", "a", " a", "a ", "no such", "a a a"})
                v.merges.push_back(merge);
            v.merges.push_back(std::string(100'000, 'b') + " c");
            const auto t = make(std::move(v));
            QVERIFY(warns(*t, "bos") && warns(*t, "eos"));
            QCOMPARE(t->bos(), kNoToken);
            QVERIFY(!t->adds_bos());
            const std::string text(300'000, 'a');
            QCOMPARE(t->decode(ids_of(t->encode(text))), text);
            const std::string odd("x\xff\xfe\0\x80", 5);
            QCOMPARE(t->decode(ids_of(t->encode(odd))), odd);
        }
    }

    void nanScoresAreTheWorst()
    {
        Vocabulary v{.model = "llama",

                     .tokens = {"a", "b", "c", "ab", "bc"},
                     .scores = {0, 0, 0, std::numeric_limits<float>::quiet_NaN(), -1e30f}};
        v.add_space_prefix = Vocabulary::Flag::No;
        QCOMPARE(ids_of(make(std::move(v))->encode("abc")), (std::vector<int>{0, 4}));
    }

    /// Words are joined one by one only where no token could reach across; the result must not show it.
    void wordByWordIsTheSame()
    {
        const auto apart = make(fromData("spm_by_word.json"));
        const auto whole = withTokens({"#\xe2\x96\x81#"}, TokenType::Normal, "spm_by_word.json");  // reaches across
        QRandomGenerator random = seeded();
        for (int round = 0; round < 500; ++round) {
            const std::string text = randomBytes(random);
            QVERIFY(whole->encode(text, kParse) == apart->encode(text, kParse));
        }
        const auto across = ids_of(whole->encode("a# #a"));
        QVERIFY(std::find(across.begin(), across.end(), whole->find("#\xe2\x96\x81#")) == across.end());
    }

    void withoutBytesAndUnknownToken()
    {
        Vocabulary v{.model = "llama", .tokens = {"a", "\xe2\x96\x81"}};
        const auto t = make(std::move(v));
        QVERIFY(warns(*t, "nothing"));
        QCOMPARE(ids_of(t->encode("a\xc3\xa9 a")), (std::vector<int>{1, 0, 1, 0}));
    }

    // ---- time ----

    void longWordsTakeLittleMore_data()
    {
        QTest::addColumn<QString>("name");
        QTest::addColumn<QString>("unit");
        PartOfAll part(3);
        for (const char* name : {"spm.json", "spm_by_word.json", "bpe.json", "gemma4.json"})
            for (const char* unit : {"a", "the", " ", "7", "\n", "!", " \t", "<", "\xc3\xa9", "\xff", "<|im_end|>"})
                if (part.takes_next())
                    QTest::addRow("%s %s", name, unit) << name << unit;
    }
    void longWordsTakeLittleMore()
    {
        QFETCH(QString, name);
        QFETCH(QString, unit);
        const auto t = make(fromData(qPrintable(name)));
        const auto milliseconds = [&](int bytes) {
            std::string text;
            const QByteArray one = unit == QString("\xff") ? QByteArray("\xff") : unit.toUtf8();
            while (int(text.size()) < bytes)
                text.append(one.data(), std::size_t(one.size()));
            const std::clock_t start = std::clock();  // of this process: a busy machine does not count
            if (t->encode(text, kParse).empty())
                return -1.0;
            return 1000.0 * double(std::clock() - start) / CLOCKS_PER_SEC;
        };
        // 32 times the text. In linear time it takes 32 times as long, in quadratic time 1024 times; the bound lies
        // between, at 8 times the linear one.
        const double small = milliseconds(8 * 1024);
        const double large = milliseconds(256 * 1024);
        QVERIFY(small >= 0);
        QVERIFY2(large < 256 * small + 200, qPrintable(QString("%1 ms, then %2 ms").arg(small).arg(large)));
    }
};

SPILLWAY_TEST(QCoreApplication, TestOddVocabularies)
#include "tst_odd_vocabularies.moc"
