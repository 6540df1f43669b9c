// Tests that placements are read as they are written on the command line.
#include "engine/placement_text.h"

#include <QtTest>

using namespace engine;

class TestPlacementText : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void sizesHaveUnits()
    {
        QCOMPARE(parse_bytes("64MiB").value_or(-1), std::int64_t(64) << 20);
        QCOMPARE(parse_bytes("2GB").value_or(-1), std::int64_t(2'000'000'000));
        QCOMPARE(parse_bytes("1.5GiB").value_or(-1), std::int64_t(3) << 29);
        QCOMPARE(parse_bytes("123").value_or(-1), std::int64_t(123));
        for (const char* const wrong : {"", "MiB", "-1", "64 MiB", "64mib", "1e400", "9e30GB", "nan", "inf"})
            QVERIFY2(!parse_bytes(wrong), wrong);
    }

    void anEmulatedDeviceHasASizeAndALink()
    {
        PlacementText text;
        text.device = "emulated";
        QVERIFY(!parse_placement(text));
        text.vram = "fit:1024";
        text.link = "8GB/s";
        text.layers = "12";
        text.expert_cache = "2MiB";
        text.kv_policy = "stream";
        text.kv_offload_percentage = 25;
        const auto options = parse_placement(text);
        QVERIFY(options);
        QCOMPARE(options->emulated.fit_tokens, 1024);
        QCOMPARE(options->emulated.link_bytes_per_s, 8e9);
        QCOMPARE(options->device_layers.value_or(-1), 12);
        QVERIFY(options->expert_cache_bytes == std::int64_t(2) << 20);
        QCOMPARE(options->kv_policy, KvPolicy::Stream);
        QCOMPARE(options->kv_offload_share, 0.25);
        text.vram = "48MiB";
        QCOMPARE(parse_placement(text)->emulated.vram_bytes, std::int64_t(48) << 20);
    }

    void wrongWordsAreNamed_data()
    {
        QTest::addColumn<QString>("option");
        QTest::addColumn<QString>("word");
        for (const auto& [option, word] :
             std::initializer_list<std::pair<const char*, const char*>>{{"device", "tpu"},
                                                                        {"vram", "fit:many"},
                                                                        {"vram", "fit:-1"},
                                                                        {"vram", "much"},
                                                                        {"layers", "all"},
                                                                        {"layers", "-3"},
                                                                        {"link", "fast"},
                                                                        {"policy", "swap"},
                                                                        {"experts", "fit:3"},
                                                                        {"budget", "lots"}})
            QTest::addRow("%s %s", option, word) << QString(option) << QString(word);
    }
    void wrongWordsAreNamed()
    {
        QFETCH(QString, option);
        QFETCH(QString, word);
        PlacementText text;
        text.device = "emulated";
        text.vram = "64MiB";
        std::string& value = option == "device"    ? text.device
                             : option == "vram"    ? text.vram
                             : option == "layers"  ? text.layers
                             : option == "link"    ? text.link
                             : option == "policy"  ? text.kv_policy
                             : option == "experts" ? text.expert_cache
                                                   : text.vram_budget;
        value = word.toStdString();
        const auto options = parse_placement(text);
        QVERIFY(!options);
        const QString named = word.startsWith("fit:") && option == "vram" ? word.mid(4) : word;
        QVERIFY2(QString::fromStdString(options.error().what).contains(named), options.error().what.c_str());
    }

    void everyPolicyHasItsName()
    {
        for (const char* const name : {"resident", "stream", "merge", "auto", "cpu-decode"}) {
            PlacementText text;
            text.kv_policy = name;
            const auto options = parse_placement(text);
            QVERIFY(options);
            QCOMPARE(std::string(name_of(options->kv_policy)), std::string(name));
        }
        PlacementText text;
        text.no_kv_offload = true;
        QCOMPARE(parse_placement(text)->kv_offload_share, 1.0);
    }
};

QTEST_GUILESS_MAIN(TestPlacementText)
#include "tst_placement_text.moc"
