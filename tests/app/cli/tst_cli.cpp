// Tests that the verbs of spillway-cli print what people and scripts expect, to the right stream, and end with the
// right exit code.
#include "tests/app/cli/cli_run.h"
#include "tests/support/chain_model.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <QStandardPaths>

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTemporaryDir>
#include <QTemporaryFile>

using test_support::model;
using test_support::Outcome;
using test_support::run_cli;

class TestCli : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void runAnswersAndRepeats()
    {
        const QStringList arguments = {"run", "-m", model("llama"), "-p", "hello", "-n", "12", "--temp", "0"};
        const Outcome first = run_cli(arguments);
        QCOMPARE(first.code, 0);
        QVERIFY(!first.out.trimmed().isEmpty());
        QVERIFY(first.err.contains("tok/s"));
        QCOMPARE(run_cli(arguments).out, first.out);
        QCOMPARE(run_cli(arguments + QStringList{"-t", "3", "-b", "5"}).out, first.out);
    }

    void runGivesJsonWithPlacement()
    {
        const Outcome run = run_cli({"run", "-m", model("llama"), "-p", "hello", "-n", "5", "--temp", "0", "--json"});
        QCOMPARE(run.code, 0);
        const auto json = run.json();
        QCOMPARE(json["generated_tokens"].toInt(), 5);
        QCOMPARE(json["reason"].toString(), "max_tokens");
        QVERIFY(json["placement"].toObject()["kv_blocks_host"].toInt() > 0);
        QCOMPARE(json["placement"].toObject()["kv_blocks_device"].toInt(), 0);
        QVERIFY(json["ttft_ms"].toDouble() > 0);
    }

    void runTellsEachTokenWhereAskedTo()
    {
        const auto answer = [](const QStringList& more) {
            return run_cli(QStringList{"run", "-m", model("llama"), "-p", "hello", "--json"} + more).json();
        };
        QVERIFY(!answer({"-n", "2"}).contains("token_ids"));
        const auto json = answer({"-n", "5", "--temp", "0", "--tokens"});
        const auto ids = json["token_ids"].toArray(), ms = json["token_ms"].toArray();
        QCOMPARE(ids.size(), qsizetype(5));
        QCOMPARE(ms.size(), qsizetype(4));
        QVERIFY(std::all_of(ms.begin(), ms.end(), [](const QJsonValue& time) { return time.toDouble() > 0; }));
        auto first = ids;
        first.removeLast();
        QCOMPARE(answer({"-n", "4", "--temp", "0", "--tokens"})["token_ids"].toArray(), first);
        QVERIFY(answer({"-n", "5", "--temp", "5", "--seed", "1", "--tokens"})["token_ids"].toArray() != ids);
    }

    void anAnswerKeepsToAGrammar()
    {
        const QTemporaryDir folder;
        const QString file = folder.filePath("rules.gbnf");
        QFile rules(file);
        QVERIFY(rules.open(QFile::WriteOnly) && rules.write("root ::= \"yes\" | \"no\"\n") > 0);
        rules.close();
        const QStringList ask = {"run", "-m", model("llama"), "-p", "well", "--temp", "1"};
        const QByteArray text = run_cli(ask + QStringList{"--grammar-file", file}).out.trimmed();
        QVERIFY2(text == "yes" || text == "no", text.constData());
        for (const QString option : {"-j", "--json-schema"})
            QCOMPARE(run_cli(ask + QStringList{option, R"({"const": [1, "a"]})"}).out.trimmed(), "[1,\"a\"]");

        const Outcome bad = run_cli(ask + QStringList{"--grammar", "root ::= x"});
        QCOMPARE(bad.code, 1);
        QCOMPARE(bad.err.trimmed(), "error: line 1 of the grammar: there is no rule 'x'");
        QCOMPARE(run_cli(ask + QStringList{"-jf", folder.filePath("none")}).code, 1);
        QCOMPARE(run_cli(ask + QStringList{"-j", "{}", "--grammar-file", file}).code, 2);
    }

    void chatKeepsTheConversation()
    {
        const Outcome chat = run_cli({"run", "-m", model("llama"), "-n", "4", "--temp", "0"}, "one\ntwo\n");
        QCOMPARE(chat.code, 0);
        QCOMPARE(chat.err.count("first token after"), 2);
        const auto second = chat.err.mid(chat.err.lastIndexOf('['));
        QVERIFY(!second.contains(", 0 reused"));
    }

    void thoughtsArePrintedAndNotReadAgain()
    {
        using support::ChainModel;
        const QTemporaryDir folder;
        const QString file = folder.filePath("chain.gguf");
        ChainModel({"[THINK]", "[/THINK]"})
            .says({ChainModel::kGo, "[THINK]", "a", "[/THINK]", "b", "</s>"})
            .save(file.toStdString());
        const Outcome chat = run_cli({"run", "-m", file, "--temp", "0"}, "x\ny\n");
        QCOMPARE(chat.code, 0);
        QCOMPARE(chat.out, QByteArray("[THINK]a[/THINK]b\n[THINK]a[/THINK]b\n"));
        const Outcome json = run_cli({"run", "-m", file, "--temp", "0", "--json"}, "x\ny\n");
        const auto lines = json.out.trimmed().split('\n');
        QCOMPARE(lines.size(), 2);
        const auto tokens = [&](int turn) {
            return QJsonDocument::fromJson(lines[turn]).object()["prompt_tokens"].toInt();
        };
        QCOMPARE(tokens(1) - tokens(0), int(std::string_view("^assistant b$^user y$").size()));
    }

    void controlCharactersNeverReachTheTerminal()
    {
        const Outcome run = run_cli({"run", "-m", model("llama"), "-p", "x", "-n", "200", "--temp", "3", "-s", "1",
                                     "--top-k", "0", "--top-p", "1", "--min-p", "0"});
        QCOMPARE(run.code, 0);
        for (const char c : run.out)
            QVERIFY(c == '\n' || c == '\t' || static_cast<unsigned char>(c) >= 0x20);
    }

    void logitsAreFloatRows()
    {
        QTemporaryDir folder;
        const QString out = folder.filePath("logits.f32");
        const Outcome logits = run_cli({"logits", "-m", model("llama"), "--tokens", "1,5,9", "--out", out, "-ctk",
                                        "f32", "-ctv", "f32", "--json"});
        QCOMPARE(logits.code, 0);
        QCOMPARE(logits.json()["rows"].toInt(), 3);
        QCOMPARE(QFileInfo(out).size(), 3 * 4 * logits.json()["n_vocab"].toInt());
        QCOMPARE(run_cli({"logits", "-m", model("llama"), "--tokens", "1,99999999", "--out", out}).code, 1);
        QCOMPARE(run_cli({"logits", "-m", model("llama"), "--tokens", "1", "--out", "/nowhere/x"}).code, 1);
    }

    void logitsOfABatchAreThoseOfItsLines()
    {
        QTemporaryDir folder;
        const QString batch = folder.filePath("batch.txt"), out = folder.filePath("logits.f32");
        const auto rows_of = [&](const QStringList& arguments) {
            if (run_cli(QStringList{"logits", "-m", model("llama"), "--out", out} + arguments).code != 0)
                return QByteArray();
            QFile file(out);
            return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
        };
        const auto write = [&](const QByteArray& lines) {
            QFile file(batch);
            return file.open(QIODevice::WriteOnly) && file.write(lines) == lines.size();
        };
        QVERIFY(write("1,5,9\n\n7\n3 4 11 2\n"));
        const QByteArray together = rows_of({"--batch", batch});
        QVERIFY(!together.isEmpty());
        QCOMPARE(together,
                 rows_of({"--tokens", "1,5,9"}) + rows_of({"--tokens", "7"}) + rows_of({"--tokens", "3,4,11,2"}));
        for (const char* const bad : {"1,x\n", "", "1\n99999999\n"}) {
            QVERIFY(write(bad));
            QCOMPARE(run_cli({"logits", "-m", model("llama"), "--batch", batch, "--out", out}).code, 1);
        }
        QCOMPARE(run_cli({"logits", "-m", model("llama"), "--out", out}).code, 2);
    }

    void tokenizeAndTemplateReadStandardInput()
    {
        const Outcome tokens = run_cli({"tokenize", "-m", model("llama")}, "hello");
        QCOMPARE(tokens.code, 0);
        const auto ids = tokens.out.trimmed().split(' ');
        QVERIFY(ids.size() > 1);
        const auto bare = run_cli({"tokenize", "-m", model("llama"), "--no-bos"}, "hello").out.trimmed().split(' ');
        QCOMPARE(bare, ids.mid(1));

        QTemporaryDir folder;
        QFile file(folder.filePath("t.jinja"));
        QVERIFY(file.open(QFile::WriteOnly));
        file.write("{{ bos_token }}{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}"
                   "{% if add_generation_prompt %}!{% endif %}{{ style }}");
        file.close();
        const QByteArray messages = R"([{"role": "user", "content": "hi"}])";
        const QStringList common = {"template", "--template", file.fileName(), "--messages", "-", "--bos", "<s>"};
        QCOMPARE(run_cli(common, messages).out, "<s><user>hi!");
        QCOMPARE(
            run_cli(common + QStringList{"--no-generation-prompt", "--template-args", R"({"style": "x"})"}, messages)
                .out,
            "<s><user>hix");
        QCOMPARE(run_cli(common, "not json").code, 1);
    }

    void aTerminalSeesNoControlCharacters()
    {
        const QString script = QStandardPaths::findExecutable("script");  // gives a program a terminal
        if (script.isEmpty())
            QSKIP("needs script(1)");
        QTemporaryDir folder;
        const auto write = [&](const char* name, const QByteArray& text) {
            QFile file(folder.filePath(name));
            return file.open(QFile::WriteOnly) && file.write(text) == text.size() ? file.fileName() : QString();
        };
        const QString source = write("t.jinja", "{{ messages[0].content }}");
        const QString messages = write("m.json", "[{\"role\": \"user\", \"content\": \"a\\u001b]0;x\\u0007b\"}]");
        const QStringList arguments = {"template", "--template", source, "--messages", messages};
        QCOMPARE(run_cli(arguments).out, "a\x1b]0;x\x07"
                                         "b");  // a pipe gets what the model would

        QProcess process;
        process.start(script, {"-qec", QStringLiteral(SPILLWAY_CLI) + ' ' + arguments.join(' '), "/dev/null"});
        process.closeWriteChannel();
        QVERIFY(process.waitForFinished(120'000));
        const QByteArray shown = process.readAllStandardOutput();
        QVERIFY2(shown.contains("a]0;xb") && !shown.contains('\x07'), shown.constData());
    }

    void inspectAndDevicesSpeakJson()
    {
        const Outcome inspect = run_cli({"inspect", model("qwen3moe"), "--json"});
        QCOMPARE(inspect.code, 0);
        QCOMPARE(inspect.json()["architecture"].toString(), "qwen3moe");
        QVERIFY(inspect.json()["experts"].toInt() > 0);
        QVERIFY(inspect.json()["runnable"].toBool());
        const auto devices = QJsonDocument::fromJson(run_cli({"devices", "--json"}).out).array();
        QCOMPARE(devices.first().toObject()["id"].toString(), "cpu");
        const bool hasGpu = devices.size() > 1;
        QCOMPARE(run_cli({"devices"}).out.contains("\nno GPU: "), !hasGpu);  // and why
    }

    /// llama.cpp takes a GPU without being asked for one.
    void whatNeedsADeviceSaysSo()
    {
        const QStringList ask = {"run", "-m", model("llama"), "-p", "hello", "-n", "1"};
        const QByteArray note = "note: -ngl does nothing on the cpu; --device cuda takes a GPU\n";
        QVERIFY(run_cli(ask + QStringList{"-ngl", "99"}).err.startsWith(note));
        QVERIFY(!run_cli(ask + QStringList{"-ngl", "0"}).err.contains("on the cpu"));
        QVERIFY(!run_cli(ask + QStringList{"-ngl", "1", "--device", "emulated", "--vram", "fit:64"})
                     .err.contains("on the cpu"));
    }

    /// Editors of Windows write a mark, and PowerShell's > writes another encoding.
    void aFileOfWindowsIsReadAsText()
    {
        const QTemporaryDir folder;
        const QString file = folder.filePath("prompt.txt");
        const auto answer = [&](const QByteArray& bytes) {
            QFile prompt(file);
            if (!prompt.open(QFile::WriteOnly) || prompt.write(bytes) != bytes.size())
                qFatal("cannot write %s", qPrintable(file));
            prompt.close();
            return run_cli({"run", "-m", model("llama"), "-f", file, "-n", "12", "--temp", "0", "--json"});
        };
        const auto plain = answer("hello").json();
        QCOMPARE(answer("\xef\xbb\xbfhello").json()["prompt_tokens"].toInt(), plain["prompt_tokens"].toInt());
        QVERIFY(plain["prompt_tokens"].toInt() > 0);
        const Outcome wide = answer(QByteArray("\xff\xfeh\0i\0", 6));
        QCOMPARE(wide.code, 1);
        QVERIFY2(wide.err.contains("is in UTF-16; save it as UTF-8"), wide.err.constData());
    }

    void aModelsNameMayHoldAnyLetter()
    {
        const QTemporaryDir folder;
        const QString path = folder.path() + QString::fromUtf8("/Modelle \xc3\xbc \xe6\xa8\xa1/Modell \xc3\xbc.gguf");
        QVERIFY(QDir().mkpath(QFileInfo(path).path()) && QFile::copy(model("llama"), path));
        const Outcome inspect = run_cli({"inspect", path, "--json"});
        QCOMPARE(inspect.code, 0);
        QCOMPARE(inspect.json()["path"].toString(), path);
        const Outcome missing = run_cli({"inspect", path + ".x"});
        QVERIFY2(missing.err.contains(path.toUtf8() + ".x"), missing.err.constData());
    }

    void inspectPredictsOnceTheMachineWasMeasured()
    {
        const QTemporaryDir data;
        const auto inspect = [&](const QStringList& more, const QString& threads = "1") {
            return run_cli(QStringList{"inspect", model("gemma3"), "--kv-block", "16", "-t", threads} + more, {}, {},
                           data.path());
        };
        const Outcome before = inspect({"--json"});
        QCOMPARE(before.code, 0);
        QVERIFY(before.json()["predictions"].toObject()["rates_known"] == false);
        QVERIFY(inspect({}).out.contains("spillway-cli calibrate"));
        QVERIFY(inspect({}).out.contains("unknown"));

        const Outcome calibrate = run_cli({"calibrate", "-t", "1", "--json"}, {}, {}, data.path());
        QCOMPARE(calibrate.code, 0);
        QVERIFY(calibrate.json()["dram_read_bytes_per_s"].toDouble() > 0);
        QVERIFY(calibrate.json()["attention"].toArray().size() > 3);

        const Outcome after = inspect({"--device", "emulated", "--vram", "fit:64", "--json"});
        QCOMPARE(after.code, 0);
        const auto predictions = after.json()["predictions"].toObject();
        QVERIFY(predictions["rates_known"] == true);
        const auto plans = predictions["plans"].toArray();
        QCOMPARE(plans.size(), 15);  // three types of KV, five policies
        std::int64_t f16_bytes = 0, q8_bytes = 0;
        for (const auto& each : plans) {
            const auto plan = each.toObject();
            QVERIFY(plan["spill_tokens"].toInt() >= 64);
            const auto rows = plan["rows"].toArray();
            QCOMPARE(rows.size(), 7);
            double last = 1e12;
            for (const auto& each_row : rows) {
                const auto row = each_row.toObject();
                const bool resident = plan["kv_policy"] == "resident";
                QCOMPARE(row["stops"].toBool(), resident && row["context_tokens"].toInt() > 0);
                QCOMPARE(row["tok_s"].isNull(), row["stops"].toBool());
                QVERIFY(row["stops"].toBool() || row["tok_s"].toDouble() <= last);
                last = row["tok_s"].toDouble();
                QVERIFY(row["device"].toObject()["total_bytes"].toInteger() <= plan["device_budget_bytes"].toInteger());
            }
            auto& bytes = plan["kv_type"] == "q8_0" ? q8_bytes : f16_bytes;
            if (plan["kv_type"] != "f32")
                bytes = rows[1].toObject()["host"].toObject()["kv_bytes"].toInteger();
        }
        QVERIFY(q8_bytes > 0 && q8_bytes < f16_bytes);
        // On the host alone there is nothing to choose; other threads were not measured.
        QCOMPARE(inspect({"--json"}).json()["predictions"].toObject()["plans"].toArray().size(), 3);
        const Outcome both = inspect({"-md", model("qwen2")});
        QVERIFY(both.out.contains("draft model, on the host"));
        QVERIFY(!inspect({}).out.contains("draft model"));
        const Outcome other = inspect({"-md", QStringLiteral(SPILLWAY_SOURCE_DIR "/resources/guide-model/guide.gguf")});
        QCOMPARE(other.code, 1);
        QVERIFY(other.err.contains("another vocabulary"));
        QVERIFY(inspect({"--json"}, "2").json()["predictions"].toObject()["rates_known"] == false);
    }

    void ratesThatMakeNoSenseAreMeasuredAgain()
    {
        const QTemporaryDir data;
        QVERIFY(QDir(data.path()).mkpath("spillway"));
        QFile file(data.filePath("spillway/machine-rates.json"));
        QVERIFY(file.open(QFile::WriteOnly));
        file.write("{\"version\": 1, \"cpu\": [[[");
        file.close();
        const Outcome inspect = run_cli({"inspect", model("llama"), "-t", "1", "--json"}, {}, {}, data.path());
        QCOMPARE(inspect.code, 0);
        QCOMPARE(inspect.err.count("measured again"), 1);
        QVERIFY(inspect.json()["predictions"].toObject()["rates_known"] == true);
        const Outcome again = run_cli({"inspect", model("llama"), "-t", "1", "--json"}, {}, {}, data.path());
        QVERIFY(again.err.isEmpty());
    }

    void anEmulatedDeviceGivesTheSameTextAndSaysWhatMoved()
    {
        const QStringList request = {"run",    "-m", model("gemma3"), "-p",         "go", "-n",  "400",
                                     "--temp", "0",  "--json",        "--kv-block", "16", "-ub", "16"};
        const Outcome alone = run_cli(request);
        const Outcome emulated =
            run_cli(request + QStringList{"--device", "emulated", "--vram", "fit:64", "-ngl", "6"});
        QCOMPARE(emulated.code, 0);
        QCOMPARE(emulated.json()["text"], alone.json()["text"]);
        const auto placement = emulated.json()["placement"].toObject();
        QCOMPARE(placement["device"].toString(), "emulated");
        QCOMPARE(placement["device_layers"].toInt(), 6);
        QVERIFY(placement["kv_blocks_device"].toInt() > 0);
        QVERIFY(placement["kv_blocks_host"].toInt() > 0);
        QVERIFY(placement["link_bytes"].toInt() > 0);
        QVERIFY(placement["events"].toObject()["offload"].toInt() > 0);
        QVERIFY(placement["vram_used_bytes"].toInteger() <= placement["vram_budget_bytes"].toInteger());
        QCOMPARE(run_cli({"run", "-m", model("llama"), "-p", "go", "--device", "emulated"}).code, 1);
        QCOMPARE(run_cli({"run", "-m", model("llama"), "-p", "go", "--device", "quantum"}).code, 1);
    }

    void perplexityOfKnownText()
    {
        QTemporaryDir folder;
        QFile text(folder.filePath("t.txt"));
        QVERIFY(text.open(QFile::WriteOnly));
        for (int i = 0; i < 60; ++i)
            text.write("a cat sat on a mat ");
        text.close();
        const Outcome result =
            run_cli({"perplexity", "-m", model("llama"), "-f", text.fileName(), "-c", "64", "--chunks", "2", "--json"});
        QCOMPARE(result.code, 0);
        QCOMPARE(result.json()["windows"].toInt(), 2);
        QCOMPARE(result.json()["tokens"].toInt(), 2 * 63);
        QVERIFY(qFuzzyCompare(std::exp(result.json()["mean_nll"].toDouble()), result.json()["perplexity"].toDouble()));

        const QString golden = test_support::golden_folder();
        if (golden.isEmpty())
            return;
        const Outcome stories =
            run_cli({"perplexity", "-m", golden + "/logits/stories260K.gguf", "-f", golden + "/text/wiki.test.raw",
                     "-c", "512", "--chunks", "1", "-ctk", "f32", "-ctv", "f32", "--json"});
        QCOMPARE(stories.code, 0);
        QVERIFY(std::abs(stories.json()["mean_nll"].toDouble() - 4.685765) < 1e-5);
    }

    void selftestPasses()
    {
        const Outcome result = run_cli({"selftest", "--json"});
        QCOMPARE(result.code, 0);
        QCOMPARE(result.json()["failed"].toInt(), 0);
    }

    void selftestSaysWhereThereIsNoGpu()
    {
        for (const auto& device : QJsonDocument::fromJson(run_cli({"devices", "--json"}).out).array())
            if (device.toObject()["id"].toString().startsWith("cuda"))
                QSKIP("there is a GPU");
        const Outcome result = run_cli({"selftest", "--device", "cuda", "--json", "-t", "1"});
        QCOMPARE(result.code, 1);
        QCOMPARE(result.json()["failed"].toInt(-1), 0);
        QVERIFY(!result.json()["no_cuda"].toString().isEmpty());
        QVERIFY(result.err.startsWith("error: no GPU was checked"));
    }

    void whatFailsSaysWhyInOneSentence_data()
    {
        QTest::addColumn<QStringList>("arguments");
        QTest::addRow("no such model") << QStringList{"run", "-m", "/nowhere.gguf", "-p", "x"};
        QTest::addRow("no model at all") << QStringList{"inspect", SPILLWAY_SOURCE_DIR "/README.md"};
        QTest::addRow("no such device") << QStringList{"run", "-m", model("llama"), "-p", "x", "--device", "cuda"};
        QTest::addRow("no such KV type") << QStringList{"run", "-m", model("llama"), "-p", "x", "-ctk", "q3"};
        QTest::addRow("no such file") << QStringList{"run", "-m", model("llama"), "-f", "/nowhere.txt"};
        QTest::addRow("too hot") << QStringList{"run", "-m", model("llama"), "-p", "x", "--temp", "-1"};
    }

    void whatFailsSaysWhyInOneSentence()
    {
        QFETCH(QStringList, arguments);
        const Outcome outcome = run_cli(arguments);
        QCOMPARE(outcome.code, 1);
        QVERIFY(outcome.out.isEmpty());
        QVERIFY2(outcome.err.contains("error: "), outcome.err.constData());
    }

    void anOptionThatIsGivenTwiceCountsAsItsLast()
    {
        const QStringList ask = {"run", "-m", model("llama"), "-p", "hello", "--temp", "0", "--json"};
        QCOMPARE(run_cli(ask + QStringList{"-n", "3", "-c", "64", "-n", "5", "-c", "128"})
                     .json()["generated_tokens"]
                     .toInt(),
                 5);
        QCOMPARE(run_cli(ask + QStringList{"-n", "3", "--n-predict", "4"}).json()["generated_tokens"].toInt(), 4);
        QCOMPARE(run_cli(ask + QStringList{"-n", "1", "--no-draft", "--no-draft", "-b", "64", "-ub", "32"}).code, 0);
        const QTemporaryDir folder;
        const QStringList rows = {"logits", "-m", model("llama"), "--out", folder.filePath("logits.f32"), "--json"};
        QCOMPARE(run_cli(rows + QStringList{"--tokens", "1,5", "--tokens", "9"}).json()["rows"].toInt(), 3);
    }

    /// No step has -1 tokens: so it shows which of the two counts.
    void ubatchGoesBeforeBatch()
    {
        const QStringList ask = {"run", "-m", model("llama"), "-p", "hello", "-n", "1"};
        for (const QStringList& sizes :
             {QStringList{"-ub", "8", "-b", "-1"}, QStringList{"-b", "-1", "--ubatch-size", "8"}})
            QCOMPARE(run_cli(ask + sizes).code, 0);
        QCOMPARE(run_cli(ask + QStringList{"-b", "8", "-ub", "-1"}).code, 1);
    }

    void anEmptyFileIsSaidToBeEmpty_data()
    {
        QTest::addColumn<QStringList>("arguments");
        QTest::addColumn<QString>("sentence");
        const QStringList run = {"run", "-m", model("llama"), "-p", "x"};
        QTest::newRow("prompt") << QStringList{"run", "-m", model("llama"), "-f"} << "FILE is empty";
        QTest::newRow("grammar") << (run + QStringList{"--grammar-file"}) << "FILE is empty";
        QTest::newRow("schema") << (run + QStringList{"--json-schema-file"}) << "FILE is empty";
        QTest::newRow("ids") << QStringList{"logits", "-m", model("llama"), "--out", "/nowhere/x", "--batch"}
                             << "FILE holds no token ids";
        QTest::newRow("text") << QStringList{"perplexity", "-m", model("llama"), "-f"} << "the text is too short";
    }
    void anEmptyFileIsSaidToBeEmpty()
    {
        QFETCH(QStringList, arguments);
        QFETCH(QString, sentence);
        QTemporaryFile empty;
        QVERIFY(empty.open());
        const Outcome outcome = run_cli(arguments + QStringList{empty.fileName()});
        QCOMPARE(outcome.code, 1);
        const QByteArray expected = sentence.replace("FILE", empty.fileName()).toUtf8();
        QVERIFY2(outcome.err.contains(expected), outcome.err.constData());
        const Outcome folder = run_cli(arguments + QStringList{QDir::tempPath()});
        QVERIFY2(folder.err.contains("cannot read"), folder.err.constData());
    }

    void noPromptComesFromAnEmptyInput()
    {
        const Outcome run = run_cli({"run", "-m", model("llama"), "-f", "-"});
        QCOMPARE(run.code, 1);
        QVERIFY2(run.err.contains("standard input is empty"), run.err.constData());
        // As of a script's variable that holds nothing: what the script itself reads is no chat.
        const Outcome nothing = run_cli({"run", "-m", model("llama"), "-p", ""}, "a line\n");
        QCOMPARE(nothing.code, 1);
        QVERIFY2(nothing.err.contains("the prompt is empty"), nothing.err.constData());
        QVERIFY(nothing.out.isEmpty());
    }

    // CLI11 takes what is in brackets for a list, and more words for further texts.
    void stopStringsAreTakenLiterally()
    {
        const QStringList ask = {"run", "-m", model("llama"), "-p", "hello", "-n", "24", "--temp", "0"};
        const QByteArray whole = run_cli(ask).out;
        QVERIFY(whole.size() > 8);
        const QString inside = QString::fromUtf8(whole.mid(4, 2));
        QCOMPARE(run_cli(ask + QStringList{"--stop", '[' + inside + ']'}).out, whole);
        QCOMPARE(run_cli(ask + QStringList{"--stop", "[never," + inside + ']', "--stop", "nor this"}).out, whole);
        const Outcome two = run_cli(ask + QStringList{"--stop", "never", inside});
        QCOMPARE(two.code, 2);
    }

    void whatCannotBePrintedIsAFailure_data()
    {
        QTest::addColumn<QString>("arguments");
        for (const char* const arguments : {"devices", "devices --json", "--help"})
            QTest::newRow(arguments) << arguments;
    }
    void whatCannotBePrintedIsAFailure()
    {
#ifdef Q_OS_LINUX
        QFETCH(QString, arguments);
        QProcess process;
        process.start("sh", {"-c", "exec \"$0\" " + arguments + " >/dev/full", SPILLWAY_CLI});
        QVERIFY(process.waitForFinished(120'000));
        QCOMPARE(process.exitCode(), 1);
        QCOMPARE(process.readAllStandardError(), QByteArray("error: not all of the output could be written\n"));
#else
        QSKIP("there is no /dev/full");
#endif
    }

    void wrongUsageIsTwo()
    {
        QCOMPARE(run_cli({}).code, 2);
        QCOMPARE(run_cli({"sing"}).code, 2);
        QCOMPARE(run_cli({"run"}).code, 2);
        QCOMPARE(run_cli({"run", "-m", model("llama"), "--temp", "warm"}).code, 2);
        QCOMPARE(run_cli({"--help"}).code, 0);
        QVERIFY(run_cli({"--version"}).out.contains("spillway-cli"));
    }

    void aForcedKernelTableThatIsNotThereIsSaid()
    {
        const Outcome forced = run_cli({"devices", "--json"}, {}, "avx1024");
        QVERIFY(forced.err.contains("avx1024"));
        QCOMPARE(QJsonDocument::fromJson(forced.out).array().first().toObject()["kernels"].toString(), "scalar");
    }
};

SPILLWAY_TEST(QCoreApplication, TestCli)
#include "tst_cli.moc"
