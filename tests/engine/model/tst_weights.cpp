// Tests that a file's tensors become weights, that all of a layer go to a device with it, and that a bias which nothing
// would read is refused with a sentence.
#include "engine/device/emulated_device.h"
#include "engine/model/device_weights.h"
#include "tests/support/models.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QtTest>

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <optional>
#include <type_traits>
#include <vector>

using namespace engine;

namespace {

/// Reads the weights of the project's own model, where `name` has become `other` of the same length.
Result<Weights> weights_of(const char* model, const QByteArray& name, const QByteArray& other)
{
    QFile own(test_support::own_models_folder() + '/' + model + ".gguf");
    const QTemporaryDir folder;
    QFile file(folder.filePath("m.gguf"));
    if (!own.open(QIODevice::ReadOnly) || !file.open(QIODevice::WriteOnly))
        return fail(Error::Code::BadFile, "no file");
    QByteArray bytes = own.readAll();
    bytes.replace(name, other);
    file.write(bytes);
    file.close();
    const auto opened = GgufFile::open(file.fileName().toStdString());
    if (!opened)
        return tl::unexpected(opened.error());
    auto h = read_hyperparameters(*opened);
    if (!h)
        return tl::unexpected(h.error());
    h->vocabulary = int(opened->array_length("tokenizer.ggml.tokens").value_or(0));
    return Weights::read(*opened, *h);
}

/// A model's weights at addresses of their own.
struct Model {
    GgufFile file;
    Hyperparameters h;
    Weights weights;
};

std::optional<Model> read(const QString& name)
{
    auto file = GgufFile::open((test_support::own_models_folder() + '/' + name).toStdString());
    auto h = file ? read_hyperparameters(*file) : Result<Hyperparameters>(tl::unexpected(file.error()));
    if (!h)
        return {};
    h->vocabulary = int(file->array_length("tokenizer.ggml.tokens").value_or(0));
    auto weights = Weights::read(*file, *h);
    if (!weights)
        return {};
    return Model{std::move(*file), std::move(*h), std::move(*weights)};
}

#if defined(__has_builtin)
#if __has_builtin(__builtin_clear_padding)
#define SPILLWAY_FINDS_POINTERS
#endif
#endif

#ifdef SPILLWAY_FINDS_POINTERS
/// What a layer's struct holds, word by word.
std::vector<std::uintptr_t> words_of(LayerWeights weights)
{
    static_assert(std::is_trivially_copyable_v<LayerWeights> && sizeof weights % sizeof(std::uintptr_t) == 0);
    __builtin_clear_padding(&weights);
    std::vector<std::uintptr_t> words(sizeof weights / sizeof(std::uintptr_t));
    std::memcpy(words.data(), &weights, sizeof weights);
    return words;
}

/// Returns the byte of the struct where an address of the host's is left once the parts are on a device, or -1. In
/// weights that were read twice nothing differs but addresses. once, twice: both readings of layer l
int left_behind(Vram& vram, const LayerWeights& once, const LayerWeights& twice, const Hyperparameters& h, int l,
                std::initializer_list<LayerPart> parts)
{
    const std::vector<std::uintptr_t> here = words_of(once), elsewhere = words_of(twice);
    std::vector<bool> went(here.size());
    for (const LayerPart part : parts) {
        const auto copy = DeviceLayer::copy(vram, once, h, l, part);
        if (!copy)
            return 0;
        const std::vector<std::uintptr_t> there = words_of(copy->weights());
        for (std::size_t i = 0; i < here.size(); ++i)
            went[i] = went[i] || there[i] != here[i];
    }
    for (std::size_t i = 0; i < here.size(); ++i)
        if (here[i] != elsewhere[i] && !went[i])
            return int(i * sizeof(std::uintptr_t));
    return -1;
}
#endif

}  // namespace

class TestWeights : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void aBiasThatNothingReadsIsASentence()
    {
        QVERIFY(weights_of("llama-bias", "blk.0.ffn_up.bias", "blk.0.ffn_up.bias"));
        const auto refused = weights_of("llama-bias", "blk.0.ffn_up.bias", "blk.0.ffn_xp.bias");
        QVERIFY(!refused);
        QCOMPARE(refused.error().code, Error::Code::Unsupported);
        QCOMPARE(QString::fromStdString(refused.error().what),
                 QString("this version does not compute with the tensor blk.0.ffn_xp.bias"));
    }

    void whatIsNotRunMayHaveAny() { QVERIFY(weights_of("llama-bias", "blk.0.ffn_up.bias", "blk.1.ffn_up.bias")); }

    // A vector or matrix that device_weights.cpp does not list would be read by a GPU at an address of the host's.
    void allOfALayerGoesToADevice_data()
    {
        QTest::addColumn<QString>("name");
        for (const QString& name : QDir(test_support::own_models_folder()).entryList({"*.gguf"}, QDir::Files))
            if (!name.startsWith("type-"))  // of one architecture
                QTest::addRow("%s", qPrintable(name)) << name;
    }
    void allOfALayerGoesToADevice()
    {
#ifdef SPILLWAY_FINDS_POINTERS
        QFETCH(QString, name);
        const auto once = read(name), twice = read(name);
        QVERIFY(once && twice);
        EmulatedDevice device({}, std::int64_t(1) << 30);
        Vram vram(device);
        using enum LayerPart;
        for (int l = 0; l < int(once->weights.layers.size()); ++l) {
            const LayerWeights& a = once->weights.layers[std::size_t(l)];
            const LayerWeights& b = twice->weights.layers[std::size_t(l)];
            const LayerParameters& parts = once->h.layers[std::size_t(l)];
            QCOMPARE(words_of(a) != words_of(b), parts.mixer != Mixer::None || parts.feed_forward);
            const QByteArray layer = "layer " + QByteArray::number(l) + ", byte ";
            QCOMPARE(layer + QByteArray::number(left_behind(vram, a, b, once->h, l, {Whole})), layer + "-1");
            QCOMPARE(layer + QByteArray::number(left_behind(vram, a, b, once->h, l, {WithoutExperts, Experts})),
                     layer + "-1");
        }
#else
        QSKIP("this compiler tells no padding from what is held");
#endif
    }
};

QTEST_GUILESS_MAIN(TestWeights)
#include "tst_weights.moc"
