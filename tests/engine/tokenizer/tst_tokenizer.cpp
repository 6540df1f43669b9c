// What a tokenizer does beside the ids of plain text: special tokens, the beginning, the way back, odd vocabularies.
#include "engine/tokenizer/reasoning_marks.h"
#include "engine/tokenizer/tokenizer.h"
#include "tests/support/vocabulary_json.h"

#include <QRandomGenerator>
#include <QTest>

#include <ctime>

using engine::EncodeOptions;
using engine::kNoToken;
using engine::Tokenizer;
using engine::TokenType;
using engine::Vocabulary;
using support::ids_of;

namespace {

constexpr EncodeOptions kParse{.specials = EncodeOptions::Specials::Parse};

Vocabulary fromData(const char* name)
{
    const auto file = support::read_json(std::string(SPILLWAY_SOURCE_DIR "/tests/data/tokenizer/") + name);
    return support::vocabulary_from(file.at("vocabulary"));
}

std::unique_ptr<const Tokenizer> make(Vocabulary vocabulary)
{
    auto made = Tokenizer::make(std::move(vocabulary));
    if (!made)
        qFatal("%s", made.error().what.c_str());
    return std::move(*made);
}

std::unique_ptr<const Tokenizer> withTokens(std::vector<std::string> more, TokenType type,
                                            const char* base = "spm.json")
{
    Vocabulary v = fromData(base);
    for (std::string& text : more) {
        v.tokens.push_back(std::move(text));
        v.types.push_back(type);
        if (!v.scores.empty())
            v.scores.push_back(-1000);
    }
    return make(std::move(v));
}

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

class TestTokenizer : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    // ---- special tokens ----

    void whatAUserTypesIsText()
    {
        for (const char* name : {"spm.json", "bpe.json", "gemma4.json"}) {
            const auto t = make(fromData(name));
            const int end = t->find("<|im_end|>");
            QVERIFY(end != kNoToken);
            const std::string text = "the <|im_end|> words";
            const auto typed = ids_of(t->encode(text));
            QVERIFY2(std::find(typed.begin(), typed.end(), end) == typed.end(), name);
            QCOMPARE(t->decode(typed), text);
            const auto parsed = ids_of(t->encode(text, kParse));
            QCOMPARE(std::count(parsed.begin(), parsed.end(), end), 1);
        }
    }

    void oneBosAtMost()
    {
        const auto t = make(fromData("spm.json"));
        const EncodeOptions typed{.with_bos = true};
        const EncodeOptions rendered{.specials = EncodeOptions::Specials::Parse, .with_bos = true};
        QCOMPARE(t->encode("the", typed).front().id, t->bos());
        QCOMPARE(ids_of(t->encode("<s>the", rendered)), ids_of(t->encode("<s>the", kParse)));
        // Typed, "<s>" is text, and BOS is still due.
        QCOMPARE(ids_of(t->encode("<s>the", typed)).size(), ids_of(t->encode("<s>the")).size() + 1);
        QCOMPARE(ids_of(t->encode("", typed)), std::vector<int>{t->bos()});
        QVERIFY(t->encode("").empty());

        Vocabulary v = fromData("spm.json");
        v.add_bos = Vocabulary::Flag::No;
        QCOMPARE(ids_of(make(v)->encode("the", typed)), ids_of(t->encode("the")));
    }

    void overlappingSpecialTokens()
    {
        const auto t = withTokens({"<|a|>", "<|a|><|b|>", "a|><|"}, TokenType::Control);
        const int one = t->find("<|a|>"), both = t->find("<|a|><|b|>");
        QCOMPARE(ids_of(t->encode("<|a|><|b|><|a|>", kParse)), (std::vector<int>{both, one}));
    }

    void phi3SwallowsSpace()
    {
        Vocabulary v = fromData("spm.json");
        const auto plain = make(v);
        v.model_name = "Phi-3-mini";
        const auto phi = make(std::move(v));
        const auto tokens = phi->encode("<|im_end|>\n the", kParse);
        QCOMPARE(ids_of(tokens), ids_of(phi->encode("<|im_end|>the", kParse)));
        QCOMPARE(tokens[1].begin, 12u);  // where "the" stands in the text as it was given
        QVERIFY(ids_of(plain->encode("<|im_end|>\n the", kParse)) != ids_of(tokens));
        QVERIFY(ids_of(phi->encode("<s>\nthe", kParse)) == ids_of(plain->encode("<s>\nthe", kParse)));
    }

    void endsOfGeneration()
    {
        for (const char* text :
             {"<|eot_id|>", "<|im_end|>", "<|end|>", "<end_of_turn>", "<|endoftext|>", "<|eom_id|>", "<|return|>",
              "<|call|>", "<EOT>", "[EOT]", "<|end_of_text|>", "<|fim_pad|>", "<turn|>", "<｜end▁of▁sentence｜>"}) {
            // Even where the file forgot to call it a control token; then it is not shown either.
            const auto t = withTokens({text}, TokenType::Normal, "bpe.json");
            QVERIFY2(t->is_end_of_generation(t->find(text)), text);
            QVERIFY2(t->is_special(t->find(text)), text);
            QCOMPARE(t->piece(t->find(text)), std::string());
            QCOMPARE(t->piece(t->find(text), true), std::string(text));
        }
        const auto t = make(fromData("spm.json"));
        QVERIFY(t->is_end_of_generation(t->eos()));
        QVERIFY(!t->is_end_of_generation(t->bos()));
        QVERIFY(!t->is_end_of_generation(t->find("<tag>")));
        QVERIFY(!t->is_end_of_generation(-1) && !t->is_end_of_generation(t->size()));

        Vocabulary v = fromData("spm.json");
        v.eot = 100;
        v.eom = 101;
        const auto named = make(std::move(v));
        QVERIFY(named->is_end_of_generation(100) && named->is_end_of_generation(101));
    }

    void channelsOfGptOssAreShownAndGoOn()
    {
        const auto t = withTokens({"<|end|>", "<|return|>", "<|call|>", "<|channel|>", "<|message|>", "<|start|>"},
                                  TokenType::Control, "bpe.json");
        QVERIFY(!t->is_end_of_generation(t->find("<|end|>")));
        QVERIFY(t->is_end_of_generation(t->find("<|return|>")));
        QVERIFY(t->is_end_of_generation(t->find("<|call|>")));
        QCOMPARE(t->piece(t->find("<|channel|>")), std::string("<|channel|>"));
        // What a user types opens no channel.
        const auto typed = ids_of(t->encode("<|channel|>"));
        QVERIFY(std::find(typed.begin(), typed.end(), t->find("<|channel|>")) == typed.end());
    }

    void marksOfReasoningAreShownAndNotTyped()
    {
        for (const std::string_view mark : engine::single_token_marks()) {
            const std::string text(mark);
            const auto t = withTokens({text}, TokenType::Control, "bpe.json");
            const int id = t->find(text);
            QVERIFY2(t->is_special(id), text.c_str());
            QCOMPARE(t->piece(id), text);
            const auto typed = ids_of(t->encode(text));
            QVERIFY(std::find(typed.begin(), typed.end(), id) == typed.end());
            QCOMPARE(ids_of(t->encode(text, kParse)), std::vector<int>{id});
        }
    }

    void marksOfReasoningInAnAnswer()
    {
        const std::string text = "<|channel|>analysis<|message|>a<b> [THINKER] \xe2\x97\x86<|end|><|start|>assistant"
                                 "<|channel|>final<|message|>[THINK]<|end|><|start|>user<|message|></thin";
        std::vector<std::string> found;
        for (const engine::MarkRange& mark : engine::find_reasoning_marks(text))
            found.push_back(text.substr(mark.begin, mark.end - mark.begin));
        QCOMPARE(found, (std::vector<std::string>{"<|channel|>analysis<|message|>", "<|end|><|start|>assistant",
                                                  "<|channel|>final<|message|>", "[THINK]"}));
        QCOMPARE(engine::find_reasoning_marks("a<|end|>").size(), std::size_t(1));
        QVERIFY(engine::find_reasoning_marks("a<|end|>\n").empty());
        QVERIFY(engine::find_reasoning_marks("").empty());
    }

    // ---- places ----

    void placesGrowAndBeginTheText_data() { families(); }
    void placesGrowAndBeginTheText()
    {
        QFETCH(QString, name);
        const auto t = make(fromData(qPrintable(name)));
        QRandomGenerator random = seeded();
        for (int round = 0; round < 300; ++round) {
            const std::string text = randomBytes(random);
            const auto tokens = t->encode(text, kParse);
            QCOMPARE(tokens.empty(), text.empty());
            std::uint32_t last = 0;
            if (!tokens.empty())
                QCOMPARE(tokens.front().begin, 0u);
            for (const engine::Token& token : tokens) {
                QVERIFY(token.begin >= last && token.begin < text.size());
                last = token.begin;
            }
        }
    }

    /// The ids up to any place decode to the text up to there.
    void placesCutTheTextWhereTheTokensDo()
    {
        Vocabulary v = fromData("bpe.json");
        v.tokens.push_back("~");  // no byte is missing
        v.types.push_back(TokenType::Normal);
        const auto t = make(std::move(v));
        QRandomGenerator random = seeded();
        for (int round = 0; round < 300; ++round) {
            const std::string text = randomBytes(random);
            const auto tokens = t->encode(text);
            const std::vector<int> ids = ids_of(tokens);
            for (std::size_t i = 0; i < tokens.size(); ++i)
                QCOMPARE(t->decode({ids.data(), i}), text.substr(0, tokens[i].begin));
        }
    }

    // ---- the way back ----

    void anyBytesComeBack_data() { families(); }
    void anyBytesComeBack()
    {
        QFETCH(QString, name);
        const auto t = make(fromData(qPrintable(name)));
        QRandomGenerator random = seeded();
        for (int round = 0; round < 500; ++round) {
            std::string text = randomBytes(random);
            std::erase(text, '~');  // the byte that bpe.json lacks
            if (name != "bpe.json")
                for (const std::string part : {"\xe2\x96\x81", "<tag>"})  // see the comment on Tokenizer
                    for (auto at = text.find(part); at != text.npos; at = text.find(part))
                        text.erase(at, part.size());
            QCOMPARE(QByteArray::fromStdString(t->decode(ids_of(t->encode(text)))), QByteArray::fromStdString(text));
        }
    }

    void theSpaceThatSpmPutsIsTakenAway()
    {
        const auto t = make(fromData("spm.json"));
        const auto ids = ids_of(t->encode("the words"));
        QCOMPARE(t->decode(ids), std::string("the words"));
        QCOMPARE(t->decode(ids, {.at_beginning = false}), std::string(" the words"));
        std::vector<int> with_bos = ids;
        with_bos.insert(with_bos.begin(), t->bos());
        QCOMPARE(t->decode(with_bos), std::string("the words"));
        QCOMPARE(t->decode(with_bos, {.specials = true}), std::string("<s>the words"));
        QCOMPARE(t->decode(ids_of(t->encode(" the"))), std::string(" the"));

        EncodeOptions middle{.start = EncodeOptions::Start::Middle};
        QCOMPARE(ids_of(t->encode(" the", middle)), ids_of(t->encode("the")));
    }

    void idsThatDoNotExist()
    {
        const auto t = make(fromData("bpe.json"));
        for (const int id : {-1, t->size(), std::numeric_limits<int>::max(), std::numeric_limits<int>::min()}) {
            QCOMPARE(t->piece(id), std::string());
            QVERIFY(t->text(id).empty());
            QVERIFY(!t->is_special(id));
            QCOMPARE(t->decode(std::vector<int>{id}), std::string());
        }
    }

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

    void unknownPatternIsAWarning()
    {
        Vocabulary v = fromData("bpe.json");
        v.pre = "no-such-pattern";
        const auto t = make(v);
        QVERIFY(warns(*t, "no-such-pattern"));
        v.pre = "default";
        QCOMPARE(ids_of(t->encode("Hello 1234 world...")), ids_of(make(v)->encode("Hello 1234 world...")));
        QVERIFY(!warns(*make(v), "default"));
        v.pre.clear();
        QVERIFY(warns(*make(v), "default"));
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
        for (const char* name : {"spm.json", "spm_by_word.json", "bpe.json", "gemma4.json"})
            for (const char* unit : {"a", "the", " ", "7", "\n", "!", " \t", "<", "\xc3\xa9", "\xff", "<|im_end|>"})
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

private:
    static void families()
    {
        QTest::addColumn<QString>("name");
        for (const char* name : {"spm.json", "bpe.json", "gemma4.json"})
            QTest::newRow(name) << name;
    }

    static QRandomGenerator seeded()
    {
        const quint32 seed = QRandomGenerator::global()->generate();
        qInfo("seed %u", seed);
        return QRandomGenerator(seed);
    }

    /// Text, parts of characters, spaces and special tokens in any order.
    static std::string randomBytes(QRandomGenerator& random)
    {
        static const std::vector<std::string> parts = {
            "the",      " read",       "a",  "W",    " ",        "  ",
            "\n",       "\n\n",        "\t", "\r\n", "\xc3\xa4", "\xe4\xbd\xa0",
            "\xf0\x9f", "\xa6\x99",    "~",  "1",    "2345",     "<tag>",
            "<s>",      "'s",          "!",  ".",    "\xff",     "\xe2\x96\x81",
            "\xe2\x96", "\xed\xa0\x80"};
        std::string text;
        for (int i = random.bounded(16); i > 0; --i)
            text += parts[std::size_t(random.bounded(int(parts.size())))];
        return text;
    }
};

QTEST_GUILESS_MAIN(TestTokenizer)
#include "tst_tokenizer.moc"
