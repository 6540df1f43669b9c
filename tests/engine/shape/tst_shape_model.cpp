// Tests that models of random weights have the right size, can be run, and leave no trace on the disk.
#include "engine/evaluate.h"
#include "engine/model_info.h"
#include "engine/shape/random_weights.h"
#include "engine/shape/shapes.h"
#include "engine/shape_model.h"
#include "kernels/cpu.h"
#include "tests/support/file_size_limit.h"
#include "tests/support/part_of_all.h"

#include <QTemporaryDir>
#include <QtTest>

#include <algorithm>
#include <cmath>

using namespace engine;

class TestShapeModel : public QObject
{
    Q_OBJECT

    QTemporaryDir m_folder;

    std::filesystem::path folder() const { return m_folder.path().toStdString(); }
    std::size_t filesInFolder() const
    {
        return std::size_t(std::distance(std::filesystem::directory_iterator(folder()), {}));
    }
    std::string refused(std::string_view name) const
    {
        const auto made = ShapeModel::make(name, folder());
        return made ? std::string() : made.error().what;
    }

private Q_SLOTS:
    // What the models' publishers say: the sum over model.safetensors of each, with the factors of long rotations,
    // which GGUF files hold as a tensor.
    void shapesHaveTheParametersOfTheirModels_data()
    {
        QTest::addColumn<QString>("name");
        QTest::addColumn<qint64>("parameters");
        QTest::newRow("Llama 3.2 1B") << "llama-3.2-1b" << qint64(1'235'814'400 + 32);
        QTest::newRow("Llama 3.2 3B") << "llama-3.2-3b" << qint64(3'212'749'824 + 64);
        QTest::newRow("Llama 3.1 8B") << "llama-3.1-8b" << qint64(8'030'261'248 + 64);
        QTest::newRow("Mistral 7B v0.3") << "mistral-7b" << qint64(7'248'023'552);
        QTest::newRow("Qwen2.5 0.5B") << "qwen2.5-0.5b" << qint64(494'032'768);
        QTest::newRow("Qwen3 0.6B") << "qwen3-0.6b" << qint64(596'049'920);
        QTest::newRow("Qwen3 8B") << "qwen3-8b" << qint64(8'190'735'360);
        // Of their text parts, by the shapes of their tensors; their publisher says 12B, 25.2B and 30.7B, and of the
        // small ones 5.1B and 8B with what sees and hears.
        QTest::newRow("Gemma 4 E2B") << "gemma-4-e2b" << qint64(4'628'569'635);
        QTest::newRow("Gemma 4 E4B") << "gemma-4-e4b" << qint64(7'463'013'674);
        QTest::newRow("Gemma 4 12B") << "gemma-4-12b" << qint64(11'907'350'576);
        QTest::newRow("Gemma 4 26B A4B") << "gemma-4-26b-a4b" << qint64(25'233'142'046);
        QTest::newRow("Gemma 4 31B") << "gemma-4-31b" << qint64(30'697'345'596);
        QTest::newRow("Qwen3 30B-A3B") << "qwen3-30b-a3b" << qint64(30'532'122'624);
        QTest::newRow("SmolLM2 135M") << "smollm2-135m" << qint64(134'515'008);
        QTest::newRow("SmolLM3 3B") << "smollm3-3b" << qint64(3'075'098'624);
        QTest::newRow("Command R7B") << "command-r7b" << qint64(8'028'033'024);
        QTest::newRow("Seed-OSS 36B") << "seed-oss-36b" << qint64(36'151'104'512);
        // From here on worked out by hand from what their layers hold.
        QTest::newRow("gpt-oss 20B") << "gpt-oss-20b" << qint64(20'914'757'184);
        QTest::newRow("gpt-oss 120B") << "gpt-oss-120b" << qint64(116'829'156'672);
        QTest::newRow("DeepSeek V2 Lite") << "deepseek-v2-lite" << qint64(15'706'484'224);
        QTest::newRow("LFM2 1.2B") << "lfm2-1.2b" << qint64(1'170'340'608);
        QTest::newRow("Granite 4.0 H Micro") << "granite-4.0-h-micro" << qint64(3'191'396'096);
        QTest::newRow("Granite 4.0 H Tiny") << "granite-4.0-h-tiny" << qint64(6'939'037'248);
        // With what is added to the scores of experts, which their publishers do not count: 128 for each of 23 layers.
        QTest::newRow("Nemotron 3 Nano 30B-A3B") << "nemotron-3-nano-30b-a3b" << qint64(31'577'937'344 + 23 * 128);
        // Their text parts without what predicts several tokens, added up by their tensors' shapes; the names are
        // rounded.
        QTest::newRow("Qwen3.5 0.8B") << "qwen3.5-0.8b" << qint64(752'393'024);
        QTest::newRow("Qwen3.5 2B") << "qwen3.5-2b" << qint64(1'881'825'088);
        QTest::newRow("Qwen3.5 4B") << "qwen3.5-4b" << qint64(4'205'751'296);
        QTest::newRow("Qwen3.5 9B") << "qwen3.5-9b" << qint64(8'953'803'264);
        QTest::newRow("Qwen3.5 27B") << "qwen3.5-27b" << qint64(26'895'998'464);
        QTest::newRow("Qwen3.5 35B-A3B") << "qwen3.5-35b-a3b" << qint64(34'660'610'688);
        QTest::newRow("Qwen3-Next 80B-A3B") << "qwen3-next-80b-a3b" << qint64(79'674'391'296);
        QTest::newRow("GLM-4.7-Flash") << "glm-4.7-flash" << qint64(29'943'393'920);
        QTest::newRow("LFM2 8B-A1B") << "lfm2-8b-a1b" << qint64(8'339'930'560);
        // Less its block that predicts several tokens, which has an embedding and an output of its own.
        QTest::newRow("GLM-4.5-Air") << "glm-4.5-air" << qint64(110'468'824'832 - 3'616'573'568);
    }
    void shapesHaveTheParametersOfTheirModels()
    {
        QFETCH(QString, name);
        QFETCH(qint64, parameters);
        const auto shape = std::ranges::find(known_shapes(), name.toStdString(), &ModelShape::name);
        QVERIFY(shape != known_shapes().end());
        std::int64_t sum = 0;
        for (const ShapeTensor& tensor : shape_tensors(*shape, known_quantisations().front()))
            sum += tensor.values();
        QCOMPARE(qint64(sum), parameters);
    }

    void weightsDeviateAsTheyShould_data()
    {
        QTest::addColumn<kernels::TensorType>("type");
        for (const kernels::TypeTraits& traits : kernels::all_tensor_types())
            if (can_fill(traits.type))
                QTest::addRow("%s", traits.name) << traits.type;
    }
    void weightsDeviateAsTheyShould()
    {
        QFETCH(kernels::TensorType, type);
        constexpr int kCount = 1 << 16;
        std::vector<std::byte> blocks(kernels::row_bytes(type, kCount));
        SplitMix random(7);
        const float wanted = 1 / std::sqrt(4096.0f);
        fill_weights(type, wanted, random, blocks);
        std::vector<float> values(kCount);
        kernels::cpu_kernels().dequantize(type, kCount, blocks.data(), values.data());
        double sum = 0, squares = 0;
        for (const float value : values) {
            sum += double(value);
            squares += double(value) * double(value);
        }
        const double deviation = std::sqrt(squares / kCount);
        // Signed integers have one value more below zero: half a step, and a step of 4 bits is 1 / 4.6 of the
        // deviation, one of 3 bits 1 / 2.3.
        const double most = type == kernels::TensorType::Q3_K ? 0.23 : 0.13;
        QVERIFY2(std::abs(sum / kCount) < most * double(wanted), qPrintable(QString::number(sum / kCount)));
        // Floats of 16 bits have one exponent, a power of two.
        QVERIFY2(deviation > 0.7 * double(wanted) && deviation < 1.42 * double(wanted),
                 qPrintable(QString::number(deviation / double(wanted))));
    }

    void everyQuantisationComputes_data()
    {
        QTest::addColumn<QString>("name");
        test_support::PartOfAll part(3);
        for (const std::string& shape : shape_names())
            for (const std::string& quantisation : shape_quantisations())
                if (shape.starts_with("tiny-") && part.takes_next())
                    QTest::addRow("%s:%s", shape.c_str(), quantisation.c_str())
                        << QString("%1:%2").arg(shape.c_str(), quantisation.c_str());
    }
    void everyQuantisationComputes()
    {
        QFETCH(QString, name);
        const auto made = ShapeModel::make(name.toStdString(), folder());
        QVERIFY2(made, made ? "" : made.error().what.c_str());
        const auto info = inspect_model(made->path());
        QVERIFY2(info && info->runnable, info ? info->obstacle.c_str() : info.error().what.c_str());
        QCOMPARE(QString::fromStdString(info->quantization).toLower(), name.section(':', 1));

        LoadRequest request;
        request.model = made->path();
        request.context_tokens = 64;
        request.threads = 1;
        auto model = Evaluator::open(request, {});
        QVERIFY2(model, model ? "" : model.error().what.c_str());
        double squares = 0;
        int values = 0;
        const Status done = model->logits(std::vector{5, 6, 7, 8}, [&](int, std::span<const float> row) {
            for (const float x : row)
                squares += double(x) * double(x);
            values += int(row.size());
            return true;
        });
        QVERIFY(done);
        const double size = std::sqrt(squares / values);  // about 1: rows of length 1 times a norm's output
        QVERIFY2(size > 0.5 && size < 2, qPrintable(QString::number(size)));
    }

    void nothingIsLeft()
    {
        {
            const auto made = ShapeModel::make("tiny-llama:q8_0", folder());
            QVERIFY(made);
#ifdef __linux__
            QCOMPARE(filesInFolder(), std::size_t(0));  // it has no name, so that nothing can leave it behind
#endif
        }
        QCOMPARE(filesInFolder(), std::size_t(0));
    }

    void whatCannotBeMadeIsRefusedWithASentence()
    {
        QVERIFY(refused("gpt-5:q8_0").find("mistral-7b") != std::string::npos);
        QVERIFY(refused("tiny-llama:q3").find("q4_k_m") != std::string::npos);
        QVERIFY(refused("").find("none of") != std::string::npos);
        QVERIFY(!ShapeModel::make("tiny-llama", folder() / "not-there"));
        const auto given_up = ShapeModel::make("tiny-llama", folder(), [](double share) { return share < 0.5; });
        QVERIFY(!given_up);
        QCOMPARE(given_up.error().code, Error::Code::Cancelled);
#ifdef __linux__
        const FileSizeLimit limit(1 << 16);
        const auto full = ShapeModel::make("tiny-llama", folder());
        QVERIFY(!full);
        QCOMPARE(full.error().code, Error::Code::CannotWrite);
        QVERIFY(full.error().what.find(folder().string()) != std::string::npos);
#endif
        QCOMPARE(filesInFolder(), std::size_t(0));
    }
};

QTEST_GUILESS_MAIN(TestShapeModel)
#include "tst_shape_model.moc"
