// Tests that real vocabularies give the same ids as the models' own tokenizers, text for text.
#include "engine/gguf/gguf_file.h"
#include "engine/tokenizer/tokenizer.h"
#include "tests/support/test_program.h"

#include <QDir>
#include <QFile>
#include <QTest>

#include <map>

using engine::Tokenizer;

namespace {

QDir goldens()
{
    return QDir(qEnvironmentVariable("SPILLWAY_GOLDEN") + "/tokenizers");
}

QByteArray contents(const QString& path)
{
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

/// Texts of a .inp file: between lines that hold only the mark.
std::vector<std::string> textsOf(const QByteArray& file)
{
    const std::string mark = "\n__ggml_vocab_test__\n";
    const std::string all = file.toStdString();
    std::vector<std::string> texts;
    for (std::size_t at = 0;;) {
        const std::size_t end = all.find(mark, at);
        texts.push_back(all.substr(at, end - at));
        if (end == std::string::npos)
            return texts;
        at = end + mark.size();
    }
}

std::vector<int> idsOf(const std::vector<engine::Token>& tokens)
{
    std::vector<int> ids;
    for (const engine::Token& token : tokens)
        ids.push_back(token.id);
    return ids;
}

QString printed(const std::vector<int>& ids)
{
    QStringList words;
    for (const int id : ids)
        words << QString::number(id);
    return words.join(' ');
}

}  // namespace

class TestTokenizerGolden : public QObject
{
    Q_OBJECT

    /// Vocabularies are large; each is read once.
    std::map<QString, std::unique_ptr<const Tokenizer>> m_tokenizers;

    const Tokenizer* tokenizer(const QString& name)
    {
        auto& slot = m_tokenizers[name];
        if (!slot) {
            const auto file = engine::GgufFile::open(goldens().filePath(name).toStdU16String());
            if (!file)
                return nullptr;
            auto vocabulary = engine::read_vocabulary(*file);
            if (!vocabulary)
                return nullptr;
            auto made = Tokenizer::make(std::move(*vocabulary));
            if (!made)
                return nullptr;
            slot = std::move(*made);
        }
        return slot.get();
    }

    static void addVocabularies()
    {
        QTest::addColumn<QString>("name");
        for (const QString& name : goldens().entryList({"*.gguf"}))
            QTest::newRow(qPrintable(name)) << name;
        if (goldens().entryList({"*.gguf"}).empty())
            QTest::newRow("none") << QString();
    }

private Q_SLOTS:
    void init()
    {
        if (!qEnvironmentVariableIsSet("SPILLWAY_GOLDEN"))
            QSKIP("SPILLWAY_GOLDEN is not set: the large vocabularies are not checked");
        QFETCH(QString, name);
        QVERIFY2(!name.isEmpty(), "SPILLWAY_GOLDEN holds no vocabularies");
        QVERIFY2(tokenizer(name), qPrintable(name));
    }

    void sameIds_data() { addVocabularies(); }
    void sameIds()
    {
        QFETCH(QString, name);
        const auto texts = textsOf(contents(goldens().filePath(name + ".inp")));
        const auto lines = contents(goldens().filePath(name + ".out")).trimmed().split('\n');
        // An empty last text leaves no line.
        QVERIFY(texts.size() > 20);
        int wrong = 0;
        for (std::size_t i = 0; i < texts.size(); ++i) {
            const QString expected = i < std::size_t(lines.size()) ? QString(lines[int(i)]).simplified() : QString();
            const QString actual = printed(idsOf(tokenizer(name)->encode(texts[i])));
            if (actual == expected)
                continue;
            ++wrong;
            qWarning().noquote() << "text" << i << QString::fromStdString(texts[i]).left(60) << "\n  expected"
                                 << expected << "\n  actual  " << actual;
        }
        QCOMPARE(wrong, 0);
    }

    void textsComeBack_data() { addVocabularies(); }
    void textsComeBack()
    {
        QFETCH(QString, name);
        for (const std::string& text : textsOf(contents(goldens().filePath(name + ".inp"))))
            QCOMPARE(tokenizer(name)->decode(idsOf(tokenizer(name)->encode(text))), text);
    }

    void bytesComeBackInAnyOrder_data() { addVocabularies(); }
    void bytesComeBackInAnyOrder()
    {
        QFETCH(QString, name);
        std::string all;
        for (int round = 0; round < 3; ++round)
            for (int byte = 0; byte < 0xf5; ++byte)
                if (byte != 0xc0 && byte != 0xc1)  // no part of UTF-8: a vocabulary may leave these out
                    all += std::string(std::size_t(round + 1), char(byte));
        QCOMPARE(tokenizer(name)->decode(idsOf(tokenizer(name)->encode(all))), all);
    }
};

SPILLWAY_TEST(QCoreApplication, TestTokenizerGolden)
#include "tst_tokenizer_golden.moc"
