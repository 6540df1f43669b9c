// Models with a few damaged bytes, all the way to an answer: what still opens may say anything, the rest is a sentence.
// Nothing crashes, hangs or reads where it should not; the sanitizer build of this test is the one that matters.
#include "engine/engine.h"
#include "engine/gguf/gguf_file.h"
#include "tests/support/models.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <QElapsedTimer>
#include <QTemporaryDir>

#include <cmath>
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

/// Bytes that are written over others.
struct Damage {
    QString what;
    qsizetype at;
    QByteArray bytes;
};

template <class T>
QByteArray bytes_of(T value)
{
    return QByteArray(reinterpret_cast<const char*>(&value), sizeof value);
}

template <class T>
T value_at(const QByteArray& bytes, qsizetype at)
{
    T value = {};
    std::memcpy(&value, bytes.data() + at, sizeof value);
    return value;
}

/// Of a number with 32 bits.
std::vector<QByteArray> bounds(const std::string& type, quint32 usual)
{
    std::vector<QByteArray> found;
    if (type == "f32")
        for (const float value : {0.0f, -1.0f, 1e-45f, 1e30f, 3e38f, -3e38f, HUGE_VALF, -HUGE_VALF, std::nanf("")})
            found.push_back(bytes_of(value));
    else
        for (const quint32 value : {0u, 1u, usual - 1, usual + 1, 2 * usual + 1, 0x7fffffffu, 0x80000000u, 0xffffffffu})
            found.push_back(bytes_of(value));
    return found;
}

/// Each thing that may be wrong with one value, as the format writes it: key, type, value.
std::vector<Damage> damages(const QByteArray& bytes, const Metadata::Printed& entry)
{
    const QByteArray key = QByteArray::fromStdString(entry.key);
    const qsizetype key_at = bytes.indexOf(bytes_of(quint64(key.size())) + key) + qsizetype(sizeof(quint64));
    const qsizetype type_at = key_at + key.size(), at = type_at + 4;
    std::vector<Damage> found = {{"missing", type_at - 1, "!"}};
    for (const quint32 type : {4u, 5u, 6u, 7u, 9u, 12u, 13u, 0xffffffffu})
        if (type != value_at<quint32>(bytes, type_at))
            found.push_back({QString("of type %1").arg(type), type_at, bytes_of(type)});
    const auto write = [&](qsizetype where, const QByteArray& what) {
        found.push_back({QString("%1 at %2").arg(QString(what.left(8).toHex())).arg(where - at), where, what});
    };
    const auto wrong_counts = [&](qsizetype where) {
        const auto usual = value_at<quint64>(bytes, where);
        for (const quint64 count : {quint64(0), usual - 1, usual + 1, quint64(1) << 32, ~quint64(0) >> 1, ~quint64(0)})
            write(where, bytes_of(count));
    };
    if (entry.type == "string") {
        wrong_counts(at);
        const auto length = qsizetype(value_at<quint64>(bytes, at));
        for (const char c : {'\0', 'x', '\xff'})
            write(at + 8, QByteArray(length, c));
    } else if (entry.type.starts_with("array of ")) {
        const std::string element = entry.type.substr(9);
        wrong_counts(at + 4);
        for (const quint32 type : {0u, 4u, 6u, 8u, 9u, 12u, 13u})
            write(at, bytes_of(type));
        const auto count = qsizetype(value_at<quint64>(bytes, at + 4));
        if (element == "f32" || element == "u32" || element == "i32")
            for (const QByteArray& value : bounds(element, value_at<quint32>(bytes, at + 12)))
                for (const qsizetype elements : {qsizetype(1), count})
                    write(at + 12, value.repeated(elements));
    } else if (entry.type == "f32" || entry.type == "u32" || entry.type == "i32") {
        for (const QByteArray& value : bounds(entry.type, value_at<quint32>(bytes, at)))
            write(at, value);
    } else if (entry.type == "bool") {
        for (const char value : {'\0', '\1', '\2', '\xff'})
            write(at, QByteArray(1, value));
    }
    return found;
}

constexpr qint64 kLongest_ms = 60'000;  // also under a sanitizer; usually some milliseconds

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
    // Each value of the metadata at the ends of its type, around what it is, of another type, and missing.
    void everyKeyAtItsBounds_data()
    {
        QTest::addColumn<QString>("model");
        for (const char* name : {"llama", "qwen3moe", "gemma2", "gpt-oss", "phi3-longrope", "mistral3", "glm4moe",
                                 "llama4", "muse-glimmer", "gemma4-e", "gemma4-moe", "nemotron_h_moe", "gemma3n",
                                 "qwen4exp", "deepseek2", "deepseek2-kv_b"})
            QTest::newRow(name) << QString("%1/%2.gguf").arg(test_support::own_models_folder(), name);
    }

    void everyKeyAtItsBounds()
    {
        QFETCH(QString, model);
        QFile original(model);
        QVERIFY(original.open(QFile::ReadOnly));
        const QByteArray bytes = original.readAll();
        const auto gguf = GgufFile::open(model.toStdString());
        QVERIFY(gguf);
        QTemporaryDir folder;
        int changed = 0;
        for (const Metadata::Printed& entry : gguf->printed_metadata()) {
            for (const Damage& damage : damages(bytes, entry)) {
                QByteArray damaged = bytes;
                std::memcpy(damaged.data() + damage.at, damage.bytes.data(), std::size_t(damage.bytes.size()));
                const QString path = folder.filePath(QString("%1.gguf").arg(++changed));
                QFile file(path);
                QVERIFY(file.open(QFile::WriteOnly) && file.write(damaged) == damaged.size());
                file.close();
                const QString what = QString("%1: %2").arg(entry.key.c_str(), damage.what);
                if (qEnvironmentVariableIsSet("SPILLWAY_SHOW_DAMAGE"))
                    qInfo("%s", qPrintable(what));  // the last one is the one that ends the process
                QElapsedTimer timer;
                timer.start();
                QVERIFY2(survives(path), qPrintable(what));
                QVERIFY2(timer.elapsed() < kLongest_ms, qPrintable(what));
                QFile::remove(path);
            }
        }
        qInfo("%d damaged files", changed);
        QVERIFY(changed > 200);
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
