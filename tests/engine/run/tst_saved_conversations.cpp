// Tests that conversations go on after a restart: from what was saved they have the same bits as if nothing had
// happened, and where nothing of use was saved they are computed again and say why.
#include "engine/run/saved_conversations.h"
#include "tests/engine/run/saving_engine.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <QFile>
#include <algorithm>
#include <cstring>
#include <random>

using namespace engine;
using namespace test_support;
using namespace std::chrono_literals;

namespace {

constexpr int kSavedTokens = 203;  // ends within a block, and within a group of 16
constexpr int kStateTokens = 100;
constexpr int kAllTokens = 230;

LoadRequest request_for(const char* model, KvType type, int fit_tokens)
{
    LoadRequest request;
    request.model = (own_models_folder() + '/' + model + ".gguf").toStdString();
    request.k_type = request.v_type = type;
    request.kv_block_tokens = 16;
    request.prefill_chunk_tokens = 40;
    request.context_tokens = 512;
    request.threads = 1;
    if (fit_tokens > 0) {
        request.placement.device = PlacementOptions::Device::Emulated;
        request.placement.emulated.fit_tokens = fit_tokens;
        request.placement.emulated.link_bytes_per_s = 0;
    }
    return request;
}

std::unique_ptr<LoadedModel> load_saving(const LoadRequest& request)
{
    auto model =
        LoadedModel::load(request, {[](const LoadProgress&) {}, [] { return false; }, [](const std::string&) {}});
    if (!model)
        qFatal("%s", model.error().what.c_str());
    return std::move(*model);
}

std::vector<int> tokens_to_save(const LoadedModel& model)
{
    std::mt19937 random(4711);
    std::vector<int> ids;
    while (int(ids.size()) < kAllTokens)
        ids.push_back(int(random() % unsigned(model.info().vocabulary)));
    return ids;
}

/// Computes tokens up to `last`; returns the logits after each of the last ones.
std::vector<std::vector<float>> go_on(LoadedModel& model, KvSequence& kv, const std::vector<int>& ids, int last)
{
    std::vector<std::vector<float>> logits;
    model.placement().begin_turn();
    while (kv.length() < last) {
        const int left = std::max(1, std::min(kSavedTokens, last) - kv.length());
        const auto chunk =
            std::span(ids).subspan(std::size_t(kv.length()), std::size_t(std::min(left, model.max_rows())));
        const Status done = model.append(kv, chunk);
        if (!done)
            qFatal("%s", done.error().what.c_str());
        const auto row = *model.logits(kv, int(chunk.size()) - 1);
        if (kv.length() > kSavedTokens)
            logits.emplace_back(row.begin(), row.end());
    }
    return logits;
}

bool same_bits(const std::vector<std::vector<float>>& a, const std::vector<std::vector<float>>& b)
{
    return a.size() == b.size() && std::ranges::equal(a, b, [](const auto& x, const auto& y) {
               return x.size() == y.size() && std::memcmp(x.data(), y.data(), x.size() * sizeof(float)) == 0;
           });
}

/// Without a pause.
SavedKvMiss restore_all(
    LoadedModel& model, Conversation& opened, SavedKvReader& reader, const std::vector<int>& ids,
    const std::function<bool()>& make_room = [] { return false; })
{
    return restore(
               model.cache(), opened.kv, reader, ids, [](int) { return true; }, make_room)
        .value();
}

}  // namespace

class TestSavedConversations : public QObject
{
    Q_OBJECT

    std::unique_ptr<QTemporaryDir> m_folder;
    QString file(const char* name = "c1") const { return m_folder->filePath(QString("kv/%1.kv").arg(name)); }
    void spoil(qsizetype at) const
    {
        QFile stored(file());
        QVERIFY(stored.open(QFile::ReadWrite) && stored.seek(at));
        char byte = 0;
        QVERIFY(stored.peek(&byte, 1) == 1);
        byte = char(byte ^ 4);
        QVERIFY(stored.write(&byte, 1) == 1);
    }

private Q_SLOTS:
    void init() { m_folder = std::make_unique<QTemporaryDir>(); }

    void theSameBits_data()
    {
        QTest::addColumn<QString>("model");
        QTest::addColumn<int>("type");
        QTest::addColumn<int>("saved_with");  // tokens that fit on the emulated device; 0: the cpu alone
        QTest::addColumn<int>("opened_with");
        for (const char* const model : {"llama", "gemma3", "gpt-oss", "gemma4-e"})
            for (const KvType type : {KvType::F16, KvType::Q8_0})
                for (const auto& [from, to] : {std::pair(0, 0), std::pair(96, 0), std::pair(0, 96), std::pair(96, 96)})
                    QTest::addRow("%s %d, %d to %d", model, int(type), from, to)
                        << QString(model) << int(type) << from << to;
    }

    void theSameBits()
    {
        QFETCH(QString, model);
        QFETCH(int, type);
        QFETCH(int, saved_with);
        QFETCH(int, opened_with);
        const std::string name = model.toStdString();
        SavedConversations saved;
        QVERIFY(saved.use({m_folder->filePath("kv").toStdString(), std::int64_t(1) << 30}, {}));

        const auto first = load_saving(request_for(name.c_str(), KvType(type), saved_with));
        const std::vector<int> ids = tokens_to_save(*first);
        Conversation conversation;
        go_on(*first, conversation.kv, ids, kSavedTokens);
        saved.save(*first, conversation, "x");
        const auto expected = go_on(*first, conversation.kv, ids, kAllTokens);  // while it is written
        saved.release_all(*first, 1h);

        const auto second = load_saving(request_for(name.c_str(), KvType(type), opened_with));
        Conversation opened;
        const SavedStart start = saved.open(*second, opened, "x", [] { return true; });
        QVERIFY(start.reader);
        QCOMPARE(start.reader->tokens(), kSavedTokens);
        QCOMPARE(restore_all(*second, opened, *start.reader, ids), SavedKvMiss::None);
        QCOMPARE(opened.kv.length(), kSavedTokens);
        QVERIFY(same_bits(go_on(*second, opened.kv, ids, kAllTokens), expected));
    }

    /// What is being written is what was there when it was asked for, whatever becomes of the conversation.
    void goesOnWhileItIsWritten()
    {
        SavedConversations saved;
        QVERIFY(saved.use({m_folder->filePath("kv").toStdString(), std::int64_t(1) << 30}, {}));
        const auto model = load_saving(request_for("llama", KvType::F16, 0));
        const std::vector<int> ids = tokens_to_save(*model);
        std::vector<int> others = ids;
        std::ranges::reverse(others);
        Conversation conversation;
        go_on(*model, conversation.kv, ids, kSavedTokens);
        const int pages = model->cache().used_pages();
        for (int i = 0; i < 4; ++i)
            saved.save(*model, conversation, "x" + std::to_string(i));
        model->cache().truncate(conversation.kv, 5);
        go_on(*model, conversation.kv, others, kSavedTokens);  // writes where the old rows were
        model->cache().truncate(conversation.kv, 0);
        saved.release_all(*model, 1h);
        QCOMPARE(model->cache().used_pages(), 0);
        QVERIFY(pages > 0);

        const auto expected = go_on(*model, conversation.kv, ids, kAllTokens);
        for (int i = 0; i < 4; ++i) {
            Conversation opened;
            const SavedStart start = saved.open(*model, opened, "x" + std::to_string(i), [] { return true; });
            QVERIFY(start.reader);
            QCOMPARE(restore_all(*model, opened, *start.reader, ids), SavedKvMiss::None);
            QCOMPARE(opened.kv.length(), kSavedTokens);
            QVERIFY(same_bits(go_on(*model, opened.kv, ids, kAllTokens), expected));
            model->cache().truncate(opened.kv, 0);
        }
    }

    void aMissingPageIsAskedForAgain()
    {
        SavedConversations saved;
        QVERIFY(saved.use({m_folder->filePath("kv").toStdString(), std::int64_t(1) << 30}, {}));
        const auto model = load_saving(request_for("llama", KvType::F16, 0));
        const std::vector<int> ids = tokens_to_save(*model);
        Conversation conversation;
        const auto expected = [&] {
            go_on(*model, conversation.kv, ids, kSavedTokens);
            saved.save(*model, conversation, "x");
            saved.release_all(*model, 1h);
            return go_on(*model, conversation.kv, ids, kAllTokens);
        }();
        KvCache& cache = model->cache();
        cache.truncate(conversation.kv, 0);
        cache.limit_memory({});
        KvSequence hog;  // takes all but five pages
        QVERIFY(cache.reserve(hog, (cache.page_limit() - 5) * cache.block_tokens()));
        Conversation opened;
        const SavedStart start = saved.open(*model, opened, "x", [] { return true; });
        int asked = 0;
        const auto make_room = [&] {
            ++asked;
            QTEST_ASSERT(opened.kv.length() == 5 * cache.block_tokens());
            return cache.truncate(hog, 0) == 0;
        };
        QCOMPARE(restore_all(*model, opened, *start.reader, ids, make_room), SavedKvMiss::None);
        QCOMPARE(asked, 1);
        QCOMPARE(opened.kv.length(), kSavedTokens);
        QVERIFY(same_bits(go_on(*model, opened.kv, ids, kAllTokens), expected));
    }

    /// Recurrent layers go on from a saved state only, whatever ends the reading before all is there.
    void aPartIsKeptUpToItsState_data()
    {
        QTest::addColumn<int>("what");
        QTest::addColumn<int>("miss");
        QTest::addColumn<int>("kept");
        QTest::newRow("a damaged page") << 0 << int(SavedKvMiss::Damaged) << kStateTokens;
        QTest::newRow("a damaged page before any state") << 1 << int(SavedKvMiss::Damaged) << 0;
        QTest::newRow("other types") << 2 << int(SavedKvMiss::OtherFormat) << 0;
        QTest::newRow("no memory") << 3 << int(SavedKvMiss::None) << kStateTokens;
    }

    void aPartIsKeptUpToItsState()
    {
        QFETCH(int, what);
        QFETCH(int, miss);
        QFETCH(int, kept);
        SavedConversations saved;
        QVERIFY(saved.use({m_folder->filePath("kv").toStdString(), std::int64_t(1) << 30}, {}));
        const auto model = load_saving(request_for("qwen35", KvType::F16, 0));
        KvCache& cache = model->cache();
        const std::vector<int> ids = tokens_to_save(*model);
        Conversation conversation;
        go_on(*model, conversation.kv, ids, kStateTokens);
        cache.states().keep(conversation.kv);
        go_on(*model, conversation.kv, ids, kSavedTokens);
        saved.save(*model, conversation, "c1");
        saved.release_all(*model, 1h);
        cache.truncate(conversation.kv, 0);
        cache.limit_memory({});

        KvSequence hog;
        if (what < 2)
            spoil(qsizetype(model->saved_kv_format()->record_at(what == 0 ? 9 : 2)) + 100);
        if (what == 3)
            QVERIFY(cache.reserve(hog, (cache.page_limit() - 9) * cache.block_tokens()));
        Conversation opened;
        const SavedStart start = saved.open(*model, opened, "c1", [] { return true; });
        QVERIFY(start.reader);
        const auto goes_on = [&](int) { return what != 2 || model->set_kv_types(KvType::Q8_0, KvType::Q8_0); };
        QCOMPARE(int(restore(cache, opened.kv, *start.reader, ids, goes_on, [] { return false; }).value()), miss);
        QCOMPARE(opened.kv.length(), kept);
        cache.truncate(hog, 0);
        const auto restored = go_on(*model, opened.kv, ids, kAllTokens);
        QVERIFY(same_bits(restored, go_on(*model, conversation.kv, ids, kAllTokens)));
    }

    void inPiecesItHasTheSameBits_data()
    {
        QTest::addColumn<QString>("model");
        QTest::addColumn<int>("fit_tokens");
        for (const char* const model : {"llama", "qwen35"})
            for (const int fit_tokens : {0, 96})
                QTest::addRow("%s %d", model, fit_tokens) << QString(model) << fit_tokens;
    }

    /// Another sequence has steps between the pieces.
    void inPiecesItHasTheSameBits()
    {
        QFETCH(QString, model);
        QFETCH(int, fit_tokens);
        SavedConversations saved;
        QVERIFY(saved.use({m_folder->filePath("kv").toStdString(), std::int64_t(1) << 30}, {}));
        const auto loaded = load_saving(request_for(model.toStdString().c_str(), KvType::F16, fit_tokens));
        KvCache& cache = loaded->cache();
        const std::vector<int> ids = tokens_to_save(*loaded);
        std::vector<int> others = ids;
        std::ranges::reverse(others);
        Conversation conversation, opened;
        go_on(*loaded, conversation.kv, ids, kSavedTokens);
        saved.save(*loaded, conversation, "x");
        const auto expected = go_on(*loaded, conversation.kv, ids, kAllTokens);
        saved.release_all(*loaded, 1h);
        cache.truncate(conversation.kv, 0);

        const SavedStart start = saved.open(*loaded, opened, "x", [] { return true; });
        QVERIFY(start.reader);
        KvSequence beside;
        std::optional<SavedKvMiss> miss;
        int pieces = 0;
        for (; !miss && pieces < 100; ++pieces) {
            miss = restore(
                cache, opened.kv, *start.reader, ids, [](int) { return false; }, [] { return false; });
            go_on(*loaded, beside, others, 3 * (pieces + 1));
        }
        QVERIFY(miss == SavedKvMiss::None);
        QVERIFY(pieces > kSavedTokens / 16);
        QCOMPARE(opened.kv.length(), kSavedTokens);
        QVERIFY(same_bits(go_on(*loaded, opened.kv, ids, kAllTokens), expected));
        cache.truncate(opened.kv, 0);
        cache.truncate(beside, 0);
        QCOMPARE(cache.used_pages(), 0);
        QCOMPARE(cache.states().used(), 0);
    }

    void theNewestStateIsKeptWhereThereIsMemoryForOne()
    {
        SavedConversations saved;
        QVERIFY(saved.use({m_folder->filePath("kv").toStdString(), std::int64_t(1) << 30}, {}));
        const auto model = load_saving(request_for("qwen35", KvType::F16, 0));
        KvCache& cache = model->cache();
        cache.limit_memory({});
        const std::vector<int> ids = tokens_to_save(*model);
        Conversation conversation;
        go_on(*model, conversation.kv, ids, kStateTokens);
        cache.states().keep(conversation.kv);
        go_on(*model, conversation.kv, ids, kSavedTokens);
        saved.save(*model, conversation, "x");
        saved.release_all(*model, 1h);
        cache.truncate(conversation.kv, 0);

        std::vector<StateId> hogs;  // take all but one
        for (StateId state = cache.states().take(); state != kNoState; state = cache.states().take())
            hogs.push_back(state);
        cache.states().give_back(hogs.back());
        Conversation opened;
        const SavedStart start = saved.open(*model, opened, "x", [] { return true; });
        QVERIFY(start.reader);
        QCOMPARE(start.reader->states(), 2);
        QCOMPARE(restore_all(*model, opened, *start.reader, ids), SavedKvMiss::None);
        QCOMPARE(opened.kv.length(), kSavedTokens);
        cache.truncate(opened.kv, 0);
    }

    void goesOnAfterARestart()
    {
        const std::string answer = Started(*m_folder).ask(talk()).text;
        const Turn expected = [&] {
            Loaded alone(0, 16);
            const auto first = alone.generate(chat(talk(), 40));
            QTEST_ASSERT(first->text == answer);
            return *alone.generate(chat(talk(answer), 40));
        }();
        Started again(*m_folder);
        const Turn turn = again.ask(talk(answer));
        QCOMPARE(turn.text, expected.text);
        QCOMPARE(turn.prompt.count(), expected.prompt.count());  // the answer took the ids in which it was made
        QCOMPARE(turn.telemetry.restored_tokens, expected.telemetry.reused_tokens);
        QCOMPARE(turn.telemetry.reused_tokens, expected.telemetry.reused_tokens);
        QCOMPARE(turn.telemetry.prefilled_tokens, expected.telemetry.prefilled_tokens);
        const Event* const restored = again.heard(Event::Kind::KvRestored);
        QVERIFY(restored);
        QCOMPARE(restored->tokens.count(), expected.telemetry.reused_tokens);
        QCOMPARE(restored->miss, SavedKvMiss::None);
        QVERIFY(restored->bytes > 0);
        QVERIFY(!again.heard(Event::Kind::KvPrefilled));

        // A third time, with what the second added.
        auto messages = talk(answer);
        messages.push_back({"assistant", turn.text});
        messages.push_back({"user", "more"});
        again = Started(*m_folder);
        QVERIFY(again.ask(messages).telemetry.restored_tokens >= turn.prompt.count());
        // And in memory it needs no file.
        QCOMPARE(again.ask(messages).telemetry.restored_tokens, 0);
        QVERIFY(!again.heard(Event::Kind::KvRestored));
    }

    void saysWhyItWasComputedAgain_data()
    {
        QTest::addColumn<int>("what");
        QTest::addColumn<int>("miss");
        QTest::newRow("no file") << 0 << int(SavedKvMiss::NoFile);
        QTest::newRow("damaged") << 1 << int(SavedKvMiss::Damaged);
        QTest::newRow("other model") << 2 << int(SavedKvMiss::OtherModel);
        QTest::newRow("other KV type") << 3 << int(SavedKvMiss::OtherFormat);
        QTest::newRow("other text") << 4 << int(SavedKvMiss::OtherText);
    }

    void saysWhyItWasComputedAgain()
    {
        QFETCH(int, what);
        QFETCH(int, miss);
        const std::string answer = Started(*m_folder).ask(talk()).text;
        LoadRequest request;
        request.model = model_file();
        request.kv_block_tokens = 16;
        auto messages = talk(answer);
        switch (what) {
        case 0:
            QVERIFY(QFile::remove(file()));
            break;
        case 1:
            spoil(64 + 8 + 16 * 4 + 100);
            break;
        case 2:
            request.model = (own_models_folder() + "/type-F16.gguf").toStdString();
            break;
        case 3:
            request.k_type = request.v_type = KvType::Q8_0;
            break;
        default:
            messages.front().text = "quite another beginning of it all";
            break;
        }
        Started again(*m_folder, std::int64_t(1) << 30, &request);
        const Turn turn = again.ask(messages);
        Started alone(QTemporaryDir(), 0, &request);
        if (what == 1 || what == 4)
            alone.ask(talk());  // the ids of the answer are known in both
        QCOMPARE(turn.text, alone.ask(messages).text);
        QVERIFY(!alone.heard(Event::Kind::KvPrefilled) ||
                alone.heard(Event::Kind::KvPrefilled)->miss == SavedKvMiss::NoFile);
        const Event* event = again.heard(Event::Kind::KvPrefilled);
        if (what == 4 && !event)
            event = again.heard(Event::Kind::KvRestored);  // they may begin with the same tokens
        QVERIFY(event);
        QCOMPARE(int(event->miss), miss);
        QVERIFY(what == 4 || turn.telemetry.restored_tokens == 0);
        // It is saved anew, and good from then on.
        again = Started(*m_folder, std::int64_t(1) << 30, &request);
        messages.push_back({"assistant", turn.text});
        messages.push_back({"user", "more"});
        QVERIFY(again.ask(messages).telemetry.restored_tokens > turn.prompt.count());
    }

    void aDamagedPageCostsOnlyTheRest()
    {
        const std::string answer = Started(*m_folder).ask(talk()).text;
        const auto size = QFileInfo(file()).size();
        spoil(size * 2 / 3);
        Started again(*m_folder);
        const Turn turn = again.ask(talk(answer));
        QVERIFY(turn.telemetry.restored_tokens >= 16);
        QVERIFY(turn.telemetry.prefilled_tokens >= 16);
        QCOMPARE(again.heard(Event::Kind::KvRestored)->miss, SavedKvMiss::Damaged);
        Started alone(QTemporaryDir(), 0);
        alone.ask(talk());
        QCOMPARE(turn.text, alone.ask(talk(answer)).text);
        QVERIFY(again.ask(talk(answer)).telemetry.reused_tokens > 0);
    }

    void aNewConversationSaysNothing()
    {
        Started started(*m_folder);
        started.ask(talk());
        QVERIFY(!started.heard(Event::Kind::KvPrefilled) && !started.heard(Event::Kind::KvRestored));
        Loaded off(0, 16);
        QVERIFY(off.generate(chat(talk("an answer"), 10)));
    }

    void forgetsAndTurnsOff()
    {
        {
            Started started(*m_folder);
            started.ask(talk(), "c1");
            started.ask(talk(), "c2");
            started.ask(talk(), "../c3");
            started.loaded.engine->post(ForgetSavedKv{"c1"});  // and ends before anybody polls
        }
        QVERIFY(!QFile::exists(file("c1")) && QFile::exists(file("c2")));
        QCOMPARE(QDir(m_folder->filePath("kv")).entryList(QDir::Files).size(), 1);
        {
            Started started(*m_folder);
            started.ask(talk(), "c4");
            started.loaded.engine->post(KeepSavedKv{{"c4"}});
            started.loaded.engine->poll({});
        }
        QVERIFY(!QFile::exists(file("c2")) && QFile::exists(file("c4")));
        {
            Started started(*m_folder, 0);
            started.ask(talk(), "c5");
            started.ask(talk("an answer of which nobody knows where it came from"), "c6");
            QVERIFY(!started.heard(Event::Kind::KvPrefilled));  // nobody expected anything
        }
        QVERIFY(!QFile::exists(file("c4")) && !QFile::exists(file("c5")));
    }

    void whatIsInOtherTypesByNowIsSavedSo()
    {
        const auto in_bytes = [](Started& started) {
            started.loaded.engine->post(SetKvTypes{KvType::Q8_0, KvType::Q8_0});
            started.loaded.engine->poll({});
        };
        Started alone(QTemporaryDir(), 0);
        const std::string answer = alone.ask(talk()).text;
        in_bytes(alone);
        auto messages = talk(answer);
        const std::string second = alone.ask(messages).text;
        messages.push_back({"assistant", second});
        messages.push_back({"user", "more"});
        const std::string third = alone.ask(messages).text;
        {
            Started started(*m_folder);
            QCOMPARE(started.ask(talk()).text, answer);
            in_bytes(started);
            QCOMPARE(started.ask(talk(answer)).text, second);
        }
        LoadRequest request;
        request.model = model_file();
        request.kv_block_tokens = 16;
        request.k_type = request.v_type = KvType::Q8_0;
        Started again(*m_folder, std::int64_t(1) << 30, &request);
        const Turn turn = again.ask(messages);
        QVERIFY(turn.telemetry.restored_tokens > 0);
        QCOMPARE(turn.text, third);
    }
};

SPILLWAY_TEST(QCoreApplication, TestSavedConversations)
#include "tst_saved_conversations.moc"
