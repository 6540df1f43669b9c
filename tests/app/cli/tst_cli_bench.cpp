// Tests that `spillway-cli bench` measures what it is asked for, and prints it in the forms that scripts and the
// window's experiments read.
#include "tests/app/cli/cli_run.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <QJsonArray>
#include <QTemporaryFile>

#include <array>

using test_support::model;
using test_support::Outcome;
using test_support::run_cli;

class TestCliBench : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void benchMeasures()
    {
        const Outcome bench =
            run_cli({"bench", "-m", model("llama"), "-p", "16", "-n", "8", "-d", "0,32", "-r", "2", "-o", "json"});
        QCOMPARE(bench.code, 0);
        const auto rows = bench.json()["rows"].toArray();
        QCOMPARE(rows.size(), 4);
        for (const auto& row : rows) {
            const auto r = row.toObject();
            QVERIFY(r["tok_s_min"].toDouble() > 0);
            QVERIFY(r["tok_s_min"].toDouble() <= r["tok_s_median"].toDouble());
            QVERIFY(r["tok_s_median"].toDouble() <= r["tok_s_max"].toDouble());
        }
        QVERIFY(bench.json()["dram_read_gb_s"].toDouble() > 0);
        QVERIFY(bench.json()["kv_policy"].isNull());
        for (const int prefill : {0, 2})
            QVERIFY(rows[prefill].toObject()["p99_ms"].isNull());
        const auto decode = rows[3].toObject();
        // The slowest of 100 tokens is no faster than a token of the fastest run.
        QVERIFY(decode["p99_ms"].toDouble() >= 900 / decode["tok_s_max"].toDouble());
        QVERIFY(decode["depth_ms"].toDouble() > 0);
        QVERIFY(rows[1].toObject()["depth_ms"].isNull());
        QVERIFY(decode["device_peak_bytes"].isNull());
        QVERIFY(decode["expert_cache_bytes"].isNull());
        QVERIFY(decode["expert_hits"].isNull());
        QVERIFY(decode["host_peak_bytes"].toInteger() > 1'000'000);
        QCOMPARE(run_cli({"bench", "-m", model("llama"), "-c", "64", "-d", "4096"}).code, 1);
    }

    /// A step reads two of the four experts of its one layer; the run that warms up does not count. There are so
    /// many steps that copies come also on a machine that is busy.
    void benchCountsExpertsThatHaveACopy()
    {
        const Outcome bench = run_cli({"bench",    "-m",        model("qwen3moe"),
                                       "--device", "emulated",  "--vram",
                                       "fit:512",  "--cpu-moe", "--expert-cache",
                                       "100KiB",   "-p",        "0",
                                       "-n",       "400",       "-r",
                                       "5",        "-t",        "1",
                                       "-o",       "json"});
        QCOMPARE(bench.code, 0);
        const auto row = bench.json()["rows"].toArray()[0].toObject();
        QVERIFY(row["expert_cache_bytes"].toInteger() > 0);
        QVERIFY(row["expert_cache_bytes"].toInteger() <= 100 * 1024);
        QVERIFY(row["expert_hits"].toInteger() > 0);
        QCOMPARE(row["expert_hits"].toInteger() + row["expert_misses"].toInteger(), 2 * 400 * 5);
    }

    void benchTimesStepsOfSeveralRows()
    {
        const Outcome bench = run_cli({"bench", "-m", model("llama"), "-p", "0", "-n", "4", "--rows", "1,4,16", "-r",
                                       "1", "-t", "1", "-o", "json"});
        QCOMPARE(bench.code, 0);
        const auto rows = bench.json()["rows"].toArray();
        QCOMPARE(rows.size(), 3);
        constexpr std::array wanted = {1, 4, 16};
        for (int i = 0; i < 3; ++i) {
            const auto row = rows[i].toObject();
            QCOMPARE(row["rows_per_step"].toInt(), wanted[std::size_t(i)]);
            QCOMPARE(row["tokens"].toInt(), 4);
            QVERIFY(row["tok_s_median"].toDouble() > 0);
            // Bytes are read once a step, whatever its rows.
            const double steps_per_s = row["tok_s_median"].toDouble() / row["rows_per_step"].toDouble();
            const double first_gb =
                rows[0].toObject()["gb_s"].toDouble() / rows[0].toObject()["tok_s_median"].toDouble();
            const double gb = row["gb_s"].toDouble() / steps_per_s;
            QVERIFY2(gb >= first_gb && gb < 2 * first_gb, qPrintable(QString::number(gb / first_gb)));
        }
        for (const char* none : {"0", "17"})
            QCOMPARE(run_cli({"bench", "-m", model("llama"), "--rows", none}).code, 1);
    }

    void benchSaysWhatDraftsBring()
    {
        QTemporaryFile text;
        QVERIFY(text.open());
        text.write(QByteArray("the cat sat on the mat and the dog sat on the cat. ").repeated(4));
        text.close();
        const Outcome bench = run_cli({"bench", "-m", model("llama"), "--draft", "ngram", "-f", text.fileName(), "-n",
                                       "40", "-r", "3", "-t", "1", "-o", "json"});
        QVERIFY2(bench.code == 0, qPrintable(bench.err));
        const auto rows = bench.json()["rows"].toArray();
        QCOMPARE(rows.size(), 3);
        for (const auto& entry : rows) {
            const auto row = entry.toObject();
            QVERIFY(row["gain"].toDouble() > 0);
            QVERIFY(row["accepted_tokens"].toInt() <= row["drafted_tokens"].toInt());
            // Of 40 tokens the first is the prompt's; an accepted one takes no step.
            if (row["tokens"].toInt() == 40)
                QCOMPARE(row["steps"].toInt(), 39 - row["accepted_tokens"].toInt());
        }
        QVERIFY(bench.json()["median_gain"].toDouble() > 0);
        const Outcome nothing = run_cli({"bench", "-m", model("llama"), "--draft", "auto"});
        QCOMPARE(nothing.code, 1);
        QVERIFY(nothing.err.contains("-f FILE"));
        QCOMPARE(run_cli({"bench", "-m", model("llama"), "--draft", "magic", "-f", text.fileName()}).code, 2);
    }

    void aTextOrADraftModelMeansDrafts()
    {
        QTemporaryFile text;
        QVERIFY(text.open());
        text.write("how are the weights kept?");
        text.close();
        const auto bench = [](const QStringList& more) {
            return run_cli(
                QStringList{"bench", "-m", model("llama"), "-p", "0", "-n", "8", "-r", "1", "-t", "1", "-o", "csv"} +
                more);
        };
        const QByteArray with_drafts = "tokens,tok_s_with,tok_s_without,";
        QVERIFY(bench({"-f", text.fileName()}).out.startsWith(with_drafts));
        const Outcome both = bench({"-md", model("llama"), "-f", text.fileName()});
        QVERIFY2(both.out.startsWith(with_drafts), both.err.constData());
        const Outcome without_text = bench({"-md", model("llama")});
        QCOMPARE(without_text.code, 1);
        QVERIFY2(without_text.err.contains("-f FILE"), without_text.err.constData());
        for (const QStringList& off : {QStringList{"--no-draft"}, QStringList{"--draft", "off"}})
            QVERIFY(bench(QStringList{"-f", text.fileName()} + off).out.startsWith("test,tokens,depth,"));
    }

    void draftsAreChosenByName()
    {
        const auto drafted = [](const QStringList& more) {
            const Outcome out = run_cli(QStringList{"run", "-m", model("llama"), "--raw", "--json", "--temp", "0", "-n",
                                                    "60", "-p", "a b a b a b a b a b a b a b"} +
                                        more);
            return out.code == 0 ? out.json()["drafted_tokens"].toInt() : -1;
        };
        QCOMPARE(drafted({"--draft", "off"}), 0);
        QCOMPARE(drafted({"--no-draft"}), 0);
        QCOMPARE(drafted({"--draft-max", "0"}), 0);
        QVERIFY(drafted({"--draft", "ngram"}) > 0);
        QVERIFY(drafted({}) > 0);
    }

    void theModelsOwnBlockGuesses()
    {
        const auto run = [](const char* name, const QString& draft) {
            return run_cli({"run", "-m", model(name), "--raw", "--json", "--temp", "0", "-n", "40", "-c", "256", "-p",
                            "how are the weights kept?", "--draft", draft});
        };
        const Outcome without = run("qwen35-mtp", "off"), with = run("qwen35-mtp", "mtp");
        QVERIFY2(with.code == 0, qPrintable(with.err));
        QVERIFY(without.json()["mtp"].isNull());
        QCOMPARE(with.json()["text"].toString(), without.json()["text"].toString());
        const auto guessed = with.json()["mtp"].toObject();
        QVERIFY(guessed["drafted_tokens"].toInt() > 0);
        QCOMPARE(guessed["drafted_tokens"].toInt(), with.json()["drafted_tokens"].toInt());
        QVERIFY(guessed["weight_bytes"].toInt() > 0 && guessed["kv_bytes"].toInt() > 0);
        const Outcome incomplete = run("glm4moe", "mtp");
        QVERIFY2(incomplete.code == 0, qPrintable(incomplete.err));
        QVERIFY(incomplete.err.contains("nextn") && incomplete.json()["mtp"].isNull());
    }

    void aDraftModelGuesses()
    {
        const QStringList text = {"--raw", "--temp", "0", "-n", "40", "-p", "how are the weights kept?"};
        const auto run = [&](const QStringList& more) {
            return run_cli(QStringList{"run", "-m", model("llama"), "--json"} + text + more);
        };
        const Outcome without = run({"--no-draft"});
        QVERIFY(without.json()["draft_model"].isNull());
        for (const char* const flag : {"-md", "--md", "--model-draft"}) {
            const Outcome with = run({flag, model("llama"), "--draft", "model"});
            QVERIFY2(with.code == 0, qPrintable(with.err));
            QCOMPARE(with.json()["text"].toString(), without.json()["text"].toString());
            const auto guessed = with.json()["draft_model"].toObject();
            QVERIFY(guessed["weight_bytes"].toInt() > 0);
            QVERIFY(guessed["accepted_tokens"].toInt() > 0);
            QCOMPARE(guessed["drafted_tokens"].toInt(), with.json()["drafted_tokens"].toInt());
        }
        QVERIFY(run({"-md", model("llama"), "--draft", "off"}).json()["draft_model"].isNull());
        QVERIFY(run({"-md", model("llama"), "--draft", "ngram"}).json()["draft_model"].isNull());
        const Outcome none = run({"--draft", "model"});
        QCOMPARE(none.code, 1);
        QVERIFY(none.err.contains("-md FILE"));
        const QString guide = QStringLiteral(SPILLWAY_SOURCE_DIR "/resources/guide-model/guide.gguf");
        const Outcome other = run({"-md", guide});
        QCOMPARE(other.code, 1);
        QVERIFY2(other.err.contains("another vocabulary"), qPrintable(other.err));
    }

    void benchSaysWhatADraftModelBrings()
    {
        QTemporaryFile text;
        QVERIFY(text.open());
        text.write("how are the weights kept?");
        text.close();
        const Outcome bench = run_cli({"bench",
                                       "-m",
                                       model("llama"),
                                       "-md",
                                       model("llama"),
                                       "--draft",
                                       "model",
                                       "--draft-max",
                                       "4",
                                       "--draft-fixed",
                                       "-f",
                                       text.fileName(),
                                       "-n",
                                       "40",
                                       "-r",
                                       "2",
                                       "-t",
                                       "1",
                                       "-o",
                                       "json"});
        QVERIFY2(bench.code == 0, qPrintable(bench.err));
        QVERIFY(!bench.json()["draft_model"].toString().isEmpty());
        for (const auto& entry : bench.json()["rows"].toArray()) {
            const auto row = entry.toObject();
            QCOMPARE(row["model_drafted_tokens"].toInt(), row["drafted_tokens"].toInt());
            QVERIFY(row["model_accepted_tokens"].toInt() > 0);
            QVERIFY(row["steps"].toInt() < row["tokens"].toInt() / 3);  // five tokens each, since the two are the same
        }
    }

    void benchTimesOneKernel()
    {
        const Outcome one = run_cli({"bench", "--kernel", "Q4_K", "-t", "1", "-o", "json"});
        QCOMPARE(one.code, 0);
        const auto rows = one.json()["rows"].toArray();
        QCOMPARE(rows.size(), 1);
        QCOMPARE(rows[0]["kernel"].toString(), "Q4_K");
        for (const char* rate : {"cache_gb_s", "memory_gb_s", "dram_read_gb_s", "prompt_gop_s"})
            QVERIFY(rows[0][rate].toDouble() > 0);
        const Outcome attention = run_cli({"bench", "--kernel", "attention-q8_0", "-t", "1", "-o", "csv"});
        QCOMPARE(attention.out.count('\n'), 2);
        const Outcome unknown = run_cli({"bench", "--kernel", "Q9_K"});
        QCOMPARE(unknown.code, 1);
        QVERIFY(unknown.err.contains("Q4_K"));
        QVERIFY(run_cli({"bench", "--kernel", "Q4_K", "-m", model("llama")}).code != 0);  // one or the other
    }

    void benchShowsMemoryPressure()
    {
        const Outcome bench = run_cli(
            {"bench",  "--pressure", "-m", model("llama"), "--kv-block", "16", "-ub", "16", "--device", "emulated",
             "--vram", "fit:64",     "-d", "256",          "--every",    "32", "-n",  "4",  "-o",       "json"});
        QCOMPARE(bench.code, 0);
        const auto rows = bench.json()["rows"].toArray();
        QCOMPARE(rows.size(), 8);
        QCOMPARE(rows[0].toObject()["blocks_host"].toInt(), 0);
        QVERIFY(rows[7].toObject()["blocks_host"].toInt() > 0);
        for (const auto& row : rows) {
            QVERIFY(row.toObject()["vram_used_bytes"].toInteger() <= row.toObject()["vram_budget_bytes"].toInteger());
            QVERIFY(row.toObject()["predicted_tok_s"].toDouble() > 0);
        }
        QVERIFY(rows[0].toObject()["corrected_tok_s"].isNull());
        QVERIFY(rows[7].toObject()["corrected_tok_s"].toDouble() > 0);
        QCOMPARE(bench.json()["spill_tokens"].toInt(), 64);
        QVERIFY(bench.json()["median_prediction_error"].toDouble() >= 0);
        QCOMPARE(run_cli({"bench", "--pressure", "-m", model("llama"), "-d", "16", "--every", "32"}).code, 1);
        const Outcome nowhere = run_cli({"bench", "--pressure", "-m", model("llama")});
        QCOMPARE(nowhere.code, 1);
        QVERIFY2(nowhere.err.contains("the last depth of -d, which has to be at least the 512"),
                 nowhere.err.constData());
    }

    void benchSaysWhatADeviceTakes()
    {
        const auto bench = [](const QStringList& more) {
            return run_cli(QStringList{"bench", "-m", model("llama"), "--kv-block", "16", "-ub", "16", "--device",
                                       "emulated", "--vram", "fit:64", "-p", "0", "-n", "4", "-r", "1", "--json"} +
                           more);
        };
        const auto merged = bench({"-d", "200", "--kv-policy", "merge"}).json();
        QCOMPARE(merged["kv_policy"].toString(), QString("merge"));
        const qint64 budget = merged["device_budget_bytes"].toInteger();
        const qint64 peak = merged["rows"].toArray()[0].toObject()["device_peak_bytes"].toInteger();
        QVERIFY2(peak > budget / 2 && peak <= budget, qPrintable(QString("%1 of %2").arg(peak).arg(budget)));

        const Outcome resident = bench({"-d", "200", "--kv-policy", "resident"});
        QCOMPARE(resident.code, 1);
        QVERIFY(resident.err.contains("resident"));
        const Outcome within = bench({"-d", "100000", "-c", "100100", "--kv-policy", "merge", "--within-context"});
        QCOMPARE(within.code, 1);
        QVERIFY2(within.err.contains("the model was made for"), within.err.constData());
    }

    void aShapeStandsInForAFile()
    {
        const Outcome bench =
            run_cli({"bench", "--shape", "tiny-llama:q8_0", "-p", "16", "-n", "4", "-r", "1", "-t", "1", "--json"});
        QCOMPARE(bench.code, 0);
        QCOMPARE(bench.json()["model"].toString(), QString("random tiny-llama q8_0"));
        QCOMPARE(bench.json()["rows"].toArray().size(), 2);
        const Outcome unknown = run_cli({"bench", "--shape", "gpt-5"});
        QCOMPARE(unknown.code, 1);
        QVERIFY(unknown.err.contains("mistral-7b"));
        QCOMPARE(run_cli({"bench", "--shape", "tiny-llama", "-m", model("llama")}).code, 2);
    }
};

SPILLWAY_TEST(QCoreApplication, TestCliBench)
#include "tst_cli_bench.moc"
