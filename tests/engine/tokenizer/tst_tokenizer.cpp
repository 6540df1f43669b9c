// Tests what a tokenizer does beside the ids of plain text: special tokens, the token that begins a text, and the way
// back from ids to text.
#include "engine/tokenizer/reasoning_marks.h"
#include "tests/engine/tokenizer/tokenizer_case.h"
#include "tests/support/test_program.h"

#include <limits>

using engine::EncodeOptions;
using engine::kNoToken;
using engine::TokenType;
using engine::Vocabulary;
using support::ids_of;
using namespace test_support;

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
        for (const char* text : {"<|eot_id|>", "<|im_end|>", "<|end|>", "<end_of_turn>", "<|endoftext|>", "<|eom_id|>",
                                 "<|return|>", "<|call|>", "<EOT>", "[EOT]", "<|end_of_text|>", "<|fim_pad|>",
                                 "<file_sep>", "<|file_separator|>", "▁<EOT>", "<turn|>", "<｜end▁of▁sentence｜>"}) {
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
        v.more_ends = {102, 104};
        const auto named = make(std::move(v));
        for (const int id : {100, 101, 102, 104})
            QVERIFY(named->is_end_of_generation(id));
        QVERIFY(!named->is_end_of_generation(103));
    }

    void marksOfGapsAreFound()
    {
        const std::vector<std::string> all = {"<fim_prefix>", "<fim_suffix>", "<fim_middle>", "<|file_sep|>"};
        const auto t = withTokens(all, TokenType::Control, "bpe.json");
        const engine::FillMarks marks = t->fill_marks();
        QVERIFY(marks.are_there());
        QCOMPARE((std::vector<int>{marks.prefix, marks.suffix, marks.middle, marks.file, marks.repository}),
                 (std::vector<int>{t->find(all[0]), t->find(all[1]), t->find(all[2]), t->find(all[3]), -1}));
        QVERIFY(!withTokens({all[0], all[1]}, TokenType::Control, "bpe.json")->fill_marks().are_there());
        Vocabulary v = fromData("spm.json");
        v.fim_pre = 100;
        v.fim_suf = 101;
        v.fim_mid = 102;
        const engine::FillMarks named = make(std::move(v))->fill_marks();
        QCOMPARE((std::vector<int>{named.prefix, named.suffix, named.middle, named.file}),
                 (std::vector<int>{100, 101, 102, -1}));
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
            // Twice, since this file's words may be tokens as a whole, and one of the marks has no letter.
            const auto typed = ids_of(t->encode(text + text));
            QVERIFY2(std::find(typed.begin(), typed.end(), id) == typed.end(), text.c_str());
            QCOMPARE(ids_of(t->encode(text, kParse)), std::vector<int>{id});
        }
    }

    // Nemotron Nano 2 has them as control tokens, and a call is read between them.
    void marksOfCallsAreShown()
    {
        for (const char* const mark : {"<TOOLCALL>", "</TOOLCALL>", "[TOOL_CALLS]", "<tool_call>"}) {
            const auto t = withTokens({mark}, TokenType::Control, "bpe.json");
            QCOMPARE(t->piece(t->find(mark)), std::string(mark));
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
};

SPILLWAY_TEST(QCoreApplication, TestTokenizer)
#include "tst_tokenizer.moc"
