// Tests that small vocabularies of our own give the ids and places that a slow tokenizer in Python finds
// (make_tokenizer_data.py).
#include "engine/tokenizer/pre_tokenizer.h"
#include "engine/tokenizer/tokenizer.h"
#include "tests/support/test_program.h"
#include "tests/support/vocabulary_json.h"

#include <QTest>

using engine::EncodeOptions;
using engine::Tokenizer;
using nlohmann::json;

namespace {

json data(const QString& name)
{
    return support::read_json(SPILLWAY_SOURCE_DIR "/tests/data/tokenizer/" + name.toStdString());
}

EncodeOptions optionsOf(const json& test)
{
    EncodeOptions options;
    if (test.value("parse", false))
        options.specials = EncodeOptions::Specials::Parse;
    if (test.value("start", std::string()) == "middle")
        options.start = EncodeOptions::Start::Middle;
    options.with_bos = test.value("with_bos", false);
    return options;
}

std::vector<engine::Token> tokensOf(const json& test)
{
    std::vector<engine::Token> tokens;
    for (std::size_t i = 0; i < test.at("ids").size(); ++i)
        tokens.push_back({test["ids"][i].get<int>(), test["begins"][i].get<std::uint32_t>()});
    return tokens;
}

QString printed(const std::vector<engine::Token>& tokens)
{
    QString out;
    for (const engine::Token& token : tokens)
        out += QString("%1@%2 ").arg(token.id).arg(token.begin);
    return out;
}

}  // namespace

class TestTokenizerSmall : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void idsAndPlaces_data()
    {
        QTest::addColumn<QString>("name");
        for (const char* name : {"spm.json", "spm_by_word.json", "spm_without_bytes.json", "bpe.json", "gemma4.json"})
            QTest::newRow(name) << name;
    }
    void idsAndPlaces()
    {
        QFETCH(QString, name);
        const json file = data(name);
        QVERIFY(file.is_object());
        const auto made = Tokenizer::make(support::vocabulary_from(file["vocabulary"]));
        QVERIFY2(made.has_value(), made ? "" : made.error().what.c_str());
        QVERIFY(file["cases"].size() > 100);
        for (const json& test : file["cases"]) {
            const std::string text = test["text"];
            const auto actual = (*made)->encode(text, optionsOf(test));
            if (actual != tokensOf(test))
                QFAIL(qPrintable(
                    QString("%1\nexpected %2\nactual   %3")
                        .arg(QString::fromStdString(test.dump()).left(300), printed(tokensOf(test)), printed(actual))));
        }
    }

    void wordsOfEachPattern_data()
    {
        QTest::addColumn<QString>("rule");
        const json words = data("words.json");
        for (const json& rule : words["rules"])
            QTest::newRow(rule["name"].get<std::string>().c_str()) << QString::fromStdString(rule["name"]);
    }
    void wordsOfEachPattern()
    {
        QFETCH(QString, rule);
        const engine::PreTokenizerRule* found = engine::find_pre_tokenizer_rule(rule.toStdString());
        QVERIFY(found);
        const auto words = engine::PreTokenizer::make(*found);
        QVERIFY2(words.has_value(), words ? "" : words.error().what.c_str());

        const json file = data("words.json");
        for (const json& expected : file["rules"]) {
            if (expected["name"] != rule.toStdString())
                continue;
            for (std::size_t i = 0; i < file["texts"].size(); ++i) {
                const std::string text = file["texts"][i];
                json actual = json::array();
                std::size_t begin = 0;
                for (const std::size_t end : words->word_ends(text)) {
                    actual.push_back(text.substr(begin, end - begin));
                    begin = end;
                }
                QCOMPARE(QString::fromStdString(actual.dump()), QString::fromStdString(expected["words"][i].dump()));
            }
        }
    }

    void everyPatternCompiles()
    {
        QVERIFY(engine::all_pre_tokenizer_rules().size() > 20);
        for (const engine::PreTokenizerRule& rule : engine::all_pre_tokenizer_rules()) {
            const auto words = engine::PreTokenizer::make(rule);
            QVERIFY2(words.has_value(), rule.names.front().data());
            // Any text is covered, in order, without empty words.
            const std::string text =
                "Hi \xff\xfe\xe4\xbd\xa0\xe5\xa5\xbd \t\n\n 12345 \xe4\xbd don't!! \xf0\x9f\xa6\x99 ";
            std::size_t last = 0;
            for (const std::size_t end : words->word_ends(text)) {
                QVERIFY(end > last);
                last = end;
            }
            QCOMPARE(last, text.size());
        }
    }
};

SPILLWAY_TEST(QCoreApplication, TestTokenizerSmall)
#include "tst_tokenizer_small.moc"
