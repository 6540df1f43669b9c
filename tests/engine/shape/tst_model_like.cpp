// Tests that models of random weights are made with another model's very tensors, from that model's header alone.
#include "engine/evaluate.h"
#include "engine/gguf/gguf_file.h"
#include "engine/model_info.h"
#include "engine/shape_model.h"
#include "tests/support/gguf_writer.h"
#include "tests/support/models.h"

#include <QDir>
#include <QTemporaryDir>
#include <QtTest>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <set>

using namespace engine;
using support::GgufWriter;

class TestModelLike : public QObject
{
    Q_OBJECT

    QTemporaryDir m_folder;

    std::filesystem::path folder() const { return m_folder.path().toStdString(); }
    std::filesystem::path made_in() const
    {
        const auto path = folder() / "made";
        std::filesystem::create_directories(path);
        return path;
    }
    std::size_t left() const { return std::size_t(std::distance(std::filesystem::directory_iterator(made_in()), {})); }
    /// Makes a file with the header of another one and a hole in place of what follows.
    std::filesystem::path hollow(const std::filesystem::path& path) const
    {
        std::ifstream in(path, std::ios::binary);
        std::string bytes(std::istreambuf_iterator<char>(in), {});
        const auto file = GgufFile::open(path);
        const std::byte* begin = file->tensors().front().bytes.data();
        const std::byte* end = begin;
        for (const GgufTensor& tensor : file->tensors()) {
            begin = std::min(begin, tensor.bytes.data());
            end = std::max(end, tensor.bytes.data() + tensor.bytes.size());
        }
        const auto size = bytes.size();
        bytes.resize((size - std::size_t(end - begin)) / 32 * 32);
        auto to = folder() / path.filename();
        std::ofstream(to, std::ios::binary | std::ios::trunc) << bytes;
        std::filesystem::resize_file(to, size);
        return to;
    }
    static QStringList listed(const GgufFile& file)
    {
        QStringList tensors;
        for (const GgufTensor& t : file.tensors())
            tensors.append(QString("%1 %2 %3 %4x%5x%6x%7")
                               .arg(QString::fromStdString(t.name), QString::fromStdString(t.type_name()))
                               .arg(t.num_dims)
                               .arg(t.dims[0])
                               .arg(t.dims[1])
                               .arg(t.dims[2])
                               .arg(t.dims[3]));
        return tensors;
    }
    static QStringList keys(const GgufFile& file)
    {
        QStringList keys;
        for (const auto& entry : file.printed_metadata())
            if (!entry.key.starts_with("split."))
                keys.append(QString::fromStdString(entry.key + ' ' + entry.type + ' ' + entry.value));
        return keys;
    }
    std::string refused(const std::filesystem::path& model) const
    {
        const auto made = ShapeModel::like(model, made_in());
        return made ? std::string() : made.error().what;
    }

private Q_SLOTS:
    void everyArchitectureComputes_data()
    {
        QTest::addColumn<QString>("path");
        const QDir models(test_support::own_models_folder());
        for (const QString& name : models.entryList({"*.gguf"}, QDir::Files, QDir::Name))
            QTest::newRow(qPrintable(name)) << models.filePath(name);
    }
    void everyArchitectureComputes()
    {
        QFETCH(QString, path);
        const auto original = inspect_model(path.toStdString());
        QVERIFY(original && original->runnable);
        const std::filesystem::path header = hollow(path.toStdString());
        const auto made = ShapeModel::like(header, made_in());
        QVERIFY2(made, made ? "" : made.error().what.c_str());
        const auto info = inspect_model(made->path());
        QVERIFY2(info && info->runnable, info ? info->obstacle.c_str() : info.error().what.c_str());
        QCOMPARE(info->parameters, original->parameters);
        QCOMPARE(info->weight_bytes, original->weight_bytes);
        QVERIFY(info->bytes_by_type == original->bytes_by_type);
        {
            const auto a = GgufFile::open(path.toStdString()), b = GgufFile::open(made->path());
            QCOMPARE(listed(*b), listed(*a));
            QCOMPARE(keys(*b), keys(*a));
        }
        LoadRequest request;
        request.model = made->path();
        request.context_tokens = 64;
        request.threads = 1;
        auto model = Evaluator::open(request, {});
        QVERIFY2(model, model ? "" : model.error().what.c_str());
        std::set<float> values;
        bool finite = true;
        const Status done = model->logits(std::vector{5, 6, 7, 8}, [&](int, std::span<const float> row) {
            for (const float x : row) {
                finite = finite && std::isfinite(x);
                values.insert(x);
            }
            return true;
        });
        QVERIFY2(done, done ? "" : done.error().what.c_str());
        QVERIFY(finite);
        QVERIFY(values.size() > 10);  // no hole was read
    }

    void partsBecomeOneFile()
    {
        const auto part = [this](int number, std::initializer_list<const char*> tensors) {
            GgufWriter w;
            if (number == 0)
                w.string("general.architecture", "llama").u32("general.alignment", 128);
            else
                w.u32("general.alignment", 64);
            w.alignment = number == 0 ? 128 : 64;
            w.u16("split.no", std::uint16_t(number)).u16("split.count", 2).i32("split.tensors.count", 3);
            for (const char* name : tensors)
                w.tensor(name, 0, {4, 3}, GgufWriter::Bytes(48));
            char file[40];
            std::snprintf(file, sizeof file, "s-0000%d-of-00002.gguf", number + 1);
            auto path = folder() / file;
            w.save(path);
            return path;
        };
        const auto first = part(0, {"a.weight", "b.weight"});
        part(1, {"c.weight"});
        const auto made = ShapeModel::like(first, made_in());
        QVERIFY2(made, made ? "" : made.error().what.c_str());
        const auto file = GgufFile::open(made->path());
        QVERIFY2(file, file ? "" : file.error().what.c_str());
        QCOMPARE(file->paths().size(), std::size_t(1));
        QCOMPARE(listed(*file),
                 QStringList({"a.weight F32 2 4x3x1x1", "b.weight F32 2 4x3x1x1", "c.weight F32 2 4x3x1x1"}));
        QCOMPARE(file->integer("general.alignment").value_or(0), std::int64_t(128));
        QVERIFY(!file->integer("split.count"));
    }

    void whatCannotBeMadeIsASentence()
    {
        GgufWriter w;
        w.string("general.architecture", "llama");
        w.tensor("a.weight", 24 /* I8 */, {32}, GgufWriter::Bytes(32));
        w.save(folder() / "foreign.gguf");
        QVERIFY(refused(folder() / "foreign.gguf").find("type I8") != std::string::npos);
        // A vector is made in memory: one of many elements, of which the file holds a hole.
        GgufWriter huge;
        huge.string("general.architecture", "llama");
        huge.tensor_at("a.weight", 0, {(std::uint64_t(16) << 20) + 1}, 0);
        huge.save(folder() / "huge.gguf");
        std::filesystem::resize_file(folder() / "huge.gguf", std::uintmax_t(65) << 20);
        QVERIFY(refused(folder() / "huge.gguf").find("16777217 elements, too many") != std::string::npos);
        QVERIFY(refused(folder() / "not-there.gguf").find("not-there") != std::string::npos);
        std::ofstream(folder() / "text.gguf") << "no model";
        QVERIFY(!refused(folder() / "text.gguf").empty());
        const auto path = std::filesystem::path(test_support::own_models_folder().toStdString()) / "llama.gguf";
        const auto given_up = ShapeModel::like(path, made_in(), [](double share) { return share < 0.5; });
        QVERIFY(!given_up);
        QCOMPARE(given_up.error().code, Error::Code::Cancelled);
        QVERIFY(!ShapeModel::like(path, folder() / "no-such-folder"));
        QCOMPARE(left(), std::size_t(0));
    }
};

QTEST_GUILESS_MAIN(TestModelLike)
#include "tst_model_like.moc"
