// Tests that a file's tensors become weights, and that a bias which nothing would read is refused with a sentence.
#include "engine/model/weights.h"
#include "tests/support/models.h"

#include <QFile>
#include <QTemporaryDir>
#include <QtTest>

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
};

QTEST_GUILESS_MAIN(TestWeights)
#include "tst_weights.moc"
