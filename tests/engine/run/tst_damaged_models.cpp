// Tests that models with a few damaged bytes never make the engine crash, hang or read where it should not, all the way
// to an answer: what still opens may say anything, the rest is refused with a sentence. The sanitizer build of this
// test is the one that matters.
#include "engine/engine.h"
#include "engine/gguf/gguf_file.h"
#include "tests/support/models.h"
#include "tests/support/part_of_all.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <QElapsedTimer>
#include <QTemporaryDir>

#include <cmath>
#include <random>

using namespace engine;

namespace {

/// Says where in a file its parts begin.
struct Parts {
    qsizetype vocabulary = 0;
    qsizetype tensors = 0;
    qsizetype weights = 0;
};

Parts parts_of(const QByteArray& bytes, const QString& path)
{
    const auto gguf = GgufFile::open(path.toStdString());
    if (!gguf)
        qFatal("%s", gguf.error().what.c_str());
    Parts parts{bytes.indexOf("tokenizer.ggml."), bytes.size(), 0};
    for (const GgufTensor& tensor : gguf->tensors()) {
        const qsizetype name = bytes.lastIndexOf(QByteArray::fromStdString(tensor.name));
        parts.tensors = std::min(parts.tensors, name - 8);
        parts.weights = std::max(parts.weights, name + qsizetype(tensor.name.size()) + 32);
    }
    return parts;
}

/// One to three changes: in the metadata, the vocabulary, the list of tensors, and the weights.
QByteArray damaged(QByteArray bytes, const Parts& parts, std::mt19937& random)
{
    constexpr qsizetype kHeader = 24;
    const auto below = [&](qsizetype n) { return qsizetype(random() % quint32(n)); };
    const auto place = [&] {
        const qsizetype kind = below(10);
        const qsizetype from = kind < 3   ? kHeader
                               : kind < 4 ? parts.vocabulary
                               : kind < 6 ? parts.tensors
                                          : parts.weights;
        const qsizetype end = kind < 3   ? parts.vocabulary
                              : kind < 4 ? parts.tensors
                              : kind < 6 ? parts.weights
                                         : bytes.size();
        return std::min(from + below(std::max<qsizetype>(1, end - from)), bytes.size() - 5);
    };
    for (qsizetype changes = 1 + below(3); changes > 0; --changes) {
        const qsizetype at = place();
        if (at < kHeader)
            break;
        switch (below(20)) {
        case 0:
            bytes.truncate(below(bytes.size()));
            break;
        case 1:
        case 2:
        case 3:
        case 4: {
            const quint32 extremes[] = {0, 0xffffffff, 0x7fffffff, 1, 0x80000000, 0x7f7fffff};
            const quint32 value = extremes[below(6)];
            std::memcpy(bytes.data() + at, &value, sizeof value);
            break;
        }
        case 5:
        case 6:
        case 7:
        case 8:
        case 9:
            bytes[at] = char(bytes[at] + "\xff\x01\x04\x10"[below(4)]);
            break;
        default:
            bytes[at] = char(random());
        }
    }
    return bytes;
}

/// What a layer of these models is made of; every kind of part that has numbers and tensors of its own.
const std::pair<const char*, QStringList> kKinds[] = {
    {"attention", {"llama", "qwen3", "cohere2", "olmo3", "smollm3", "phi3-longrope"}},
    {"windows and chunks", {"gemma2", "gemma3", "muse-glimmer", "llama4"}},
    {"delta net", {"qwen35", "qwen3next", "qwen3next-fused"}},
    {"Mamba-2", {"nemotron_h"}},
    {"Mamba-2 beside attention", {"falcon-h1"}},
    {"short convolution", {"lfm2"}},
    {"latent attention", {"deepseek2", "deepseek2-kv_b", "mistral4"}},
    {"per-layer embeddings", {"gemma4-e", "gemma3n"}},
    {"residual streams", {"gemma3n", "qwen4exp"}},
    {"experts", {"qwen3moe", "granitemoe", "hunyuan-moe", "ernie4_5-moe", "glm4moe"}},
    {"experts beside a dense part", {"gemma4-moe"}},
    {"experts of MXFP4, with sinks", {"gpt-oss-mxfp4", "gpt-oss"}},
    {"latent experts", {"nemotron_h_moe"}},
};

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

/// Returns values at the bounds of a number with 32 bits.
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

    /// Says whether the file gives an answer, or a sentence that says why not.
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
        test_support::PartOfAll part(6);
        for (const char* name : {"llama", "qwen3moe", "gemma2", "gpt-oss", "phi3-longrope", "mistral3", "glm4moe",
                                 "llama4", "muse-glimmer", "gemma4-e", "gemma4-moe", "nemotron_h_moe", "gemma3n",
                                 "qwen4exp", "deepseek2", "deepseek2-kv_b", "qwen35", "falcon-h1", "lfm2"})
            if (part.takes_next())
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

    void damageIsASentence_data()
    {
        QTest::addColumn<QStringList>("models");
        for (const auto& [kind, models] : kKinds)
            QTest::newRow(kind) << models;
    }

    // A few of each kind; SPILLWAY_DAMAGED_FILES says how many, as the long test does.
    void damageIsASentence()
    {
        QFETCH(QStringList, models);
        const unsigned seed =
            qEnvironmentVariableIsSet("SEED") ? unsigned(qEnvironmentVariableIntValue("SEED")) : std::random_device{}();
        qInfo("seed %u (SEED=%u repeats it)", seed, seed);
        std::mt19937 random(seed);
        const int count = qEnvironmentVariableIsSet("SPILLWAY_DAMAGED_FILES")
                              ? qEnvironmentVariableIntValue("SPILLWAY_DAMAGED_FILES")
                              : 16;
        QTemporaryDir folder;
        int answered = 0, refused = 0;
        for (int i = 0; i < count; ++i) {
            const QString source =
                QString("%1/%2.gguf").arg(test_support::own_models_folder(), models[i % models.size()]);
            QFile original(source);
            QVERIFY(original.open(QFile::ReadOnly));
            const QByteArray bytes = original.readAll();
            // A new name each time: file systems write a file that is replaced to the disk at once.
            const QString path = folder.filePath(QString("damaged-%1.gguf").arg(i));
            QFile file(path);
            QVERIFY(file.open(QFile::WriteOnly));
            file.write(damaged(bytes, parts_of(bytes, source), random));
            file.close();

            auto engine = make_engine();
            LoadRequest load;
            load.model = path.toStdString();
            load.threads = 2;
            load.context_tokens = 512;
            if (i % 2 == 1) {  // its layers and what they keep on a device, with less room than they ask for
                load.placement.device = PlacementOptions::Device::Emulated;
                load.placement.emulated.fit_tokens = 64;
                load.placement.emulated.link_bytes_per_s = 0;
            }
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
        if (count >= 100)
            QVERIFY(answered > 0 && refused > 0);  // else the damage is of one kind only
    }
};

SPILLWAY_TEST(QCoreApplication, TestDamagedModels)
#include "tst_damaged_models.moc"
