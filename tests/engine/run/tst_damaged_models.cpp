// Models with a few damaged bytes, all the way to an answer: what still opens may say anything, the rest is a sentence.
// Nothing crashes, hangs or reads where it should not; the sanitizer build of this test is the one that matters.
#include "engine/engine.h"
#include "engine/gguf/gguf_file.h"
#include "tests/support/models.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <QTemporaryDir>
#include <random>

using namespace engine;

namespace {

/// One to four changes, most of them in the metadata.
QByteArray damaged(QByteArray bytes, std::mt19937& random)
{
    constexpr qsizetype kHeader = 24, kMetadata = 1500, kVocabulary = 12000;
    const auto below = [&](qsizetype n) { return qsizetype(random() % quint32(n)); };
    for (qsizetype changes = 1 + below(4); changes > 0; --changes) {
        const qsizetype reach = std::min(bytes.size() - 5, below(10) < 7 ? kMetadata : kVocabulary);
        if (reach <= kHeader)
            break;
        const qsizetype at = kHeader + below(reach - kHeader);
        switch (below(10)) {
        case 0:
            bytes.truncate(below(bytes.size()));
            break;
        case 1:
        case 2: {
            const quint32 extremes[] = {0, 0xffffffff, 0x7fffffff, 1, 0x80000000};
            const quint32 value = extremes[below(5)];
            std::memcpy(bytes.data() + at, &value, sizeof value);
            break;
        }
        case 3:
        case 4:
        case 5:
            bytes[at] = char(bytes[at] + "\xff\x01\x04\x10"[below(4)]);
            break;
        default:
            bytes[at] = char(random());
        }
    }
    return bytes;
}

}  // namespace

class TestDamagedModels : public QObject
{
    Q_OBJECT

    /// What comes of such a file: an answer or a sentence.
    static bool survives(const QString& path)
    {
        auto engine = make_engine();
        LoadRequest load;
        load.model = path.toStdString();
        load.threads = 1;
        load.context_tokens = 64;
        const auto info = engine->load(load, {}, {});
        if (!info)
            return !info.error().what.empty();
        Request request;
        request.raw_prompt = "hello";
        request.max_tokens = 1;
        const auto turn = engine->generate(engine->create_sequence().value_or(0), request, {}, {});
        return turn || !turn.error().what.empty();
    }

private Q_SLOTS:
    // Each number of the metadata at the ends of its type, around its value, and a few times that.
    void everyNumberAtItsBounds_data()
    {
        QTest::addColumn<QString>("model");
        for (const char* name :
             {"llama", "qwen3moe", "gemma2", "gpt-oss", "phi3-longrope", "glm4moe", "llama4", "muse-glimmer"})
            QTest::newRow(name) << QString("%1/%2.gguf").arg(test_support::own_models_folder(), name);
    }

    void everyNumberAtItsBounds()
    {
        QFETCH(QString, model);
        QFile original(model);
        QVERIFY(original.open(QFile::ReadOnly));
        const QByteArray bytes = original.readAll();
        const auto gguf = GgufFile::open(model.toStdString());
        QVERIFY(gguf);
        QTemporaryDir folder;
        int changed = 0;
        for (const Metadata::Printed& number : gguf->printed_metadata()) {
            if (number.type != "u32")
                continue;
            const QByteArray key = QByteArray::fromStdString(number.key);
            const qsizetype at = bytes.indexOf(key) + key.size() + 4;  // after the type
            quint32 usual = 0;
            std::memcpy(&usual, bytes.data() + at, sizeof usual);
            for (const quint32 value : {0u, 1u, usual - 1, usual + 1, 2 * usual + 1, 0x7fffffffu, 0xffffffffu}) {
                QByteArray damaged = bytes;
                std::memcpy(damaged.data() + at, &value, sizeof value);
                const QString path = folder.filePath(QString("%1.gguf").arg(++changed));
                QFile file(path);
                QVERIFY(file.open(QFile::WriteOnly) && file.write(damaged) == damaged.size());
                file.close();
                QVERIFY2(survives(path), qPrintable(QString("%1 = %2").arg(key).arg(value)));
                QFile::remove(path);
            }
        }
        QVERIFY(changed > 30);
    }

    void damageIsASentence()
    {
        const unsigned seed =
            qEnvironmentVariableIsSet("SEED") ? unsigned(qEnvironmentVariableIntValue("SEED")) : std::random_device{}();
        qInfo("seed %u (SEED=%u repeats it)", seed, seed);
        std::mt19937 random(seed);
        const auto files = QDir(test_support::own_models_folder()).entryInfoList({"*.gguf"}, QDir::Files, QDir::Name);
        QVERIFY(files.size() > 10);
        QTemporaryDir folder;
        int answered = 0, refused = 0;
        for (int i = 0; i < 400; ++i) {
            QFile original(files[int(random() % quint32(files.size()))].filePath());
            QVERIFY(original.open(QFile::ReadOnly));
            // A new name each time: file systems write a file that is replaced to the disk at once.
            const QString path = folder.filePath(QString("damaged-%1.gguf").arg(i));
            QFile file(path);
            QVERIFY(file.open(QFile::WriteOnly));
            file.write(damaged(original.readAll(), random));
            file.close();

            auto engine = make_engine();
            LoadRequest load;
            load.model = path.toStdString();
            load.threads = 2;
            const auto info = engine->load(load, {}, {});
            QFile::remove(
                path);  // mapped files stay until they are closed; where that is not so, the folder goes at the end
            if (!info) {
                QVERIFY(!info.error().what.empty());
                ++refused;
                continue;
            }
            Request request;
            request.messages = {{"user", "hello world", {}}};
            request.max_tokens = 3;
            const auto sequence = engine->create_sequence();
            QVERIFY(sequence);
            const auto turn = engine->generate(*sequence, request, {}, {});
            QVERIFY(turn || !turn.error().what.empty());
            ++(turn ? answered : refused);
        }
        qInfo("%d answered, %d refused", answered, refused);
        QVERIFY(answered > 0 && refused > 0);  // else the damage is of one kind only
    }
};

SPILLWAY_TEST(QCoreApplication, TestDamagedModels)
#include "tst_damaged_models.moc"
