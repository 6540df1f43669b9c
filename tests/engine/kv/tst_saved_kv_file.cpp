// Tests that a file of saved KV gives back what was written, and that a damaged one gives back nothing else.
#include "engine/files/checksum.h"
#include "tests/engine/kv/saved_kv_case.h"
#include "tests/support/test_program.h"

#include <QtTest>

using namespace engine;
using namespace test_support;
using kernels::KvType;

class TestSavedKvFile : public QObject
{
    Q_OBJECT

    QTemporaryDir m_folder;
    std::filesystem::path path() const { return m_folder.filePath("a.kv").toStdString(); }

    /// Rows of the tokens that are there are equal; what lies behind them is nobody's.
    static bool same_rows(const MadeKv& made, const ReadKv& read, KvType type)
    {
        const auto layers = saved_layers(type);
        for (std::size_t i = 0; i < read.memory.size(); ++i) {
            const KvLayerShape& layer = layers[i % layers.size()];
            const int page = int(i / layers.size());
            const int rows = std::min(kBlockTokens, int(read.ids.size()) - page * kBlockTokens);
            const std::size_t value = kernels::kv_value_bytes(type);
            for (int head = 0; head < layer.kv_heads; ++head) {
                const std::byte* const a = made.memory[i].data() + std::size_t(head) * layer.block.bytes();
                const std::byte* const b = read.memory[i].data() + std::size_t(head) * layer.block.bytes();
                for (int t = 0; t < rows; ++t) {
                    for (int d = 0; d < layer.block.k_dim; ++d) {
                        const std::size_t at = layer.block.k_index(t, d) * value;
                        if (std::memcmp(a + at, b + at, value) != 0)
                            return false;
                    }
                    const std::size_t v_row = std::size_t(layer.block.v_dim) * value;
                    const std::size_t v_at = layer.block.v_offset() + std::size_t(t) * v_row;
                    if (std::memcmp(a + v_at, b + v_at, v_row) != 0)
                        return false;
                    if (type != KvType::Q8_0)
                        continue;
                    for (const std::size_t scales : {layer.block.k_scales_offset(), layer.block.v_scales_offset()})
                        if (std::memcmp(a + scales + std::size_t(t) * 4, b + scales + std::size_t(t) * 4, 4) != 0)
                            return false;
                }
            }
        }
        return true;
    }

private Q_SLOTS:
    void init() { std::filesystem::remove(path()); }

    void roundTrip_data()
    {
        QTest::addColumn<int>("type");
        QTest::addColumn<int>("tokens");
        for (const KvType type : {KvType::F32, KvType::F16, KvType::Q8_0})
            for (const int tokens : {1, 15, 16, 17, 31, 32, 33, 64, 100})
                QTest::addRow("type %d, %d tokens", int(type), tokens) << int(type) << tokens;
    }

    void roundTrip()
    {
        QFETCH(int, type);
        QFETCH(int, tokens);
        const auto format = saved_format(KvType(type));
        const MadeKv made(tokens, 5, KvType(type));
        QCOMPARE(made.write(path(), format), std::string());
        const ReadKv read = read_kv(path(), format, made.ids);
        QCOMPARE(read.miss, SavedKvMiss::None);
        QCOMPARE(read.ids, made.ids);
        QCOMPARE(read.replies, made.replies);
        QVERIFY(!read.damaged);
        QVERIFY(same_rows(made, read, KvType(type)));
        QCOMPARE(QFile::permissions(QString::fromStdString(path().string())) &
                     (QFile::ReadGroup | QFile::WriteGroup | QFile::ReadOther | QFile::WriteOther),
                 QFile::Permissions());
        // A short conversation does not cost a whole block.
        const auto whole = std::int64_t(format->record_bytes(kBlockTokens));
        QVERIFY(tokens > 16 || contents(path()).size() < whole);
    }

    void onlyThePromptsOwnTokensCount()
    {
        const auto format = saved_format();
        const MadeKv made(80, 5);
        QCOMPARE(made.write(path(), format), std::string());
        for (const int same : {0, 1, 31, 32, 40, 79}) {
            std::vector<int> prompt = made.ids;
            prompt[std::size_t(same)] ^= 1;
            const ReadKv read = read_kv(path(), format, prompt);
            QCOMPARE(int(read.ids.size()), same);
            QVERIFY(same_rows(made, read, KvType::F16));
        }
        const std::vector<int> longer(200, 3);
        QCOMPARE(read_kv(path(), format, longer).ids.size(), std::size_t(0));
    }

    /// Only what is new is written, whether the conversation grew, was cut, or went another way.
    void writesOnlyWhatIsNew()
    {
        const auto format = saved_format();
        const auto page = std::int64_t(format->record_bytes(kBlockTokens));
        MadeKv made(300, 5);
        std::int64_t bytes = 0;
        QCOMPARE(made.write(path(), format, &bytes), std::string());
        QVERIFY(bytes > 9 * page);
        QCOMPARE(made.write(path(), format, &bytes), std::string());
        QVERIFY(bytes < 2 * page);
        QCOMPARE(read_kv(path(), format, made.ids).ids, made.ids);

        made.ids.resize(100);
        QCOMPARE(made.write(path(), format, &bytes), std::string());
        QVERIFY(bytes < 2 * page);
        QVERIFY(contents(path()).size() < 4 * page);
        QCOMPARE(read_kv(path(), format, made.ids).ids, made.ids);

        MadeKv other(150, 6);
        std::copy_n(made.ids.begin(), 70, other.ids.begin());
        for (std::size_t i = 0; i < 2 * 3; ++i)
            other.memory[i] = made.memory[i];
        QCOMPARE(other.write(path(), format, &bytes), std::string());
        QVERIFY(bytes < 4 * page);
        const ReadKv read = read_kv(path(), format, other.ids);
        QCOMPARE(read.ids, other.ids);
        QVERIFY(same_rows(other, read, KvType::F16));
    }

    /// Whatever ends the writing: what is there is some of the new text or some of the old one, never both.
    void writingMayEndAnywhere()
    {
        const auto format = saved_format();
        const MadeKv old(200, 5);
        MadeKv fresh(180, 6);
        std::copy_n(old.ids.begin(), 40, fresh.ids.begin());
        for (std::size_t i = 0; i < 3; ++i)
            fresh.memory[i] = old.memory[i];
        const auto blocks = fresh.blocks();
        for (int pages = 0; pages <= 5; ++pages) {
            QCOMPARE(old.write(path(), format), std::string());
            {
                auto writer = SavedKvWriter::open(path(), format, fresh.ids);
                QVERIFY(writer);
                QCOMPARE(writer->next_page(), 1);
                for (int i = 0; i < pages; ++i)
                    QVERIFY(writer->write_page(std::span(blocks).subspan(std::size_t(writer->next_page()) * 3, 3)));
            }
            const ReadKv read = read_kv(path(), format, fresh.ids);
            QVERIFY(!read.damaged);
            QCOMPARE(int(read.ids.size()), std::min(180, (1 + pages) * kBlockTokens));
            QVERIFY(same_rows(fresh, read, KvType::F16));
            QCOMPARE(int(read_kv(path(), format, old.ids).ids.size()), pages == 0 ? kBlockTokens : 40);
            QVERIFY(read.replies.empty());
        }
    }

    void truncatedAnywhere()
    {
        const auto format = saved_format();
        const MadeKv made(70, 5);
        QCOMPARE(made.write(path(), format), std::string());
        const QByteArray whole = contents(path());
        const auto near_a_border = [&](std::uint64_t size) {
            const std::uint64_t borders[] = {0,
                                             sizeof(SavedKvHeader),
                                             format->record_at(0) + 8 + kBlockTokens * 4,
                                             format->record_at(1),
                                             format->record_at(2),
                                             format->replies_at(70),
                                             std::uint64_t(whole.size())};
            return std::ranges::any_of(borders, [&](auto border) { return size + 3 > border && size < border + 3; });
        };
        for (qsizetype size = 0; size < whole.size(); ++size) {
            if (size % 37 != 0 && !near_a_border(std::uint64_t(size)))
                continue;
            put(path(), whole.left(size));
            const ReadKv read = read_kv(path(), format, made.ids);
            if (size < 64) {
                QCOMPARE(read.miss, SavedKvMiss::Damaged);
                continue;
            }
            const auto pages = std::uint64_t(size) >= format->replies_at(70) ? 70
                               : std::uint64_t(size) >= format->record_at(2) ? 64
                               : std::uint64_t(size) >= format->record_at(1) ? 32
                                                                             : 0;
            QCOMPARE(int(read.ids.size()), pages);
            QVERIFY(read.replies.empty());
            QVERIFY(same_rows(made, read, KvType::F16));
        }
    }

    void flippedBitsAreFound()
    {
        const auto format = saved_format();
        const MadeKv made(70, 5);
        QCOMPARE(made.write(path(), format), std::string());
        const QByteArray whole = contents(path());
        std::mt19937 random(3);
        for (int i = 0; i < 2000; ++i) {
            QByteArray bytes = whole;
            const auto at = i < 64 * 8 ? i / 8 : qsizetype(random() % std::uint32_t(whole.size()));
            bytes[at] = char(bytes[at] ^ (1 << (i % 8)));
            put(path(), bytes);
            const ReadKv read = read_kv(path(), format, made.ids);
            const bool header = at < 64, replies = std::uint64_t(at) >= format->replies_at(70);
            if (header)
                QVERIFY(read.miss != SavedKvMiss::None);
            else if (replies)
                QVERIFY(read.ids == made.ids && read.replies.empty());
            else  // in a page: of the ids or of the bytes
                QVERIFY(read.damaged || read.ids.size() < made.ids.size());
            QVERIFY(same_rows(made, read, KvType::F16));
        }
    }

    void anotherOriginIsSaid()
    {
        const MadeKv made(70, 5);
        const auto format = saved_format();
        QCOMPARE(made.write(path(), format), std::string());
        const auto miss = [&](const auto& other) { return read_kv(path(), other, made.ids).miss; };
        QCOMPARE(miss(saved_format(KvType::F16, 78)), SavedKvMiss::OtherModel);
        QCOMPARE(miss(saved_format(KvType::Q8_0)), SavedKvMiss::OtherFormat);
        QCOMPARE(miss(saved_format(KvType::F16, 77, 4)), SavedKvMiss::OtherFormat);
        QCOMPARE(miss(saved_format(KvType::F16, 77, 3, 1)), SavedKvMiss::OtherFormat);
        std::filesystem::remove(path());
        QCOMPARE(miss(format), SavedKvMiss::NoFile);
        std::filesystem::create_directory(path());
        QCOMPARE(miss(format), SavedKvMiss::Damaged);
        std::filesystem::remove(path());

        for (const bool layout : {true, false}) {
            QCOMPARE(made.write(path(), format), std::string());
            QByteArray bytes = contents(path());
            SavedKvHeader header;
            std::memcpy(&header, bytes.data(), sizeof header);
            (layout ? header.origin.layout : header.origin.engine) += 1;
            header.checksum = SavedKvFormat::header_checksum(header);
            std::memcpy(bytes.data(), &header, sizeof header);
            put(path(), bytes);
            QCOMPARE(miss(format), SavedKvMiss::OtherVersion);
        }
        // Who writes there next makes a file of its own.
        QCOMPARE(made.write(path(), saved_format(KvType::F16, 78)), std::string());
        QCOMPARE(miss(saved_format(KvType::F16, 78)), SavedKvMiss::None);
    }

    /// With latent attention a token's row is there once, and a file in which it is twice is not taken for one.
    void latentRowsAreWrittenOnce()
    {
        const auto format_of = [](KvType type, bool values_in_keys) {
            const KvLayerShape layer{1, {type, type, 12, 8, kBlockTokens, values_in_keys}, 0};
            return std::make_shared<const SavedKvFormat>(77, std::vector(3, layer));
        };
        for (const KvType type : {KvType::F32, KvType::F16, KvType::Q8_0}) {
            const MadeKv made(2 * kBlockTokens, 5, type);
            const auto twice = format_of(type, false), once = format_of(type, true);
            const std::size_t block = kBlockTokens * kernels::kv_vector_bytes(type, 12);
            QCOMPARE(once->record_bytes(kBlockTokens), 8 + kBlockTokens * 4 + 3 * block);
            QVERIFY(once->record_bytes(17) < twice->record_bytes(17));
            QCOMPARE(made.write(path(), twice), std::string());
            QCOMPARE(read_kv(path(), once, made.ids).miss, SavedKvMiss::OtherFormat);
            QCOMPARE(made.write(path(), once), std::string());
            QCOMPARE(read_kv(path(), twice, made.ids).miss, SavedKvMiss::OtherFormat);
            const ReadKv read = read_kv(path(), once, made.ids);
            QCOMPARE(read.ids, made.ids);
            for (std::size_t i = 0; i < read.memory.size(); ++i)
                QVERIFY(std::memcmp(read.memory[i].data(), made.memory[i].data(), block) == 0);
            std::filesystem::remove(path());
        }
    }

    /// Pages of another file under a header that is right.
    void strangePagesDoNotPass()
    {
        const auto ours = saved_format(KvType::F16, 77), theirs = saved_format(KvType::F16, 78);
        const MadeKv made(70, 5);
        QCOMPARE(made.write(path(), theirs), std::string());
        QByteArray bytes = contents(path());
        const SavedKvHeader header = ours->header(70);
        std::memcpy(bytes.data(), &header, sizeof header);
        put(path(), bytes);
        const ReadKv read = read_kv(path(), ours, made.ids);
        QVERIFY(read.damaged);
        QVERIFY(read.ids.empty());
        QVERIFY(read.replies.empty());
    }

    void hugeCountsCostNothing()
    {
        const auto format = saved_format();
        const MadeKv made(70, 5);
        for (const std::uint32_t tokens : {0u, 71u, 1u << 24, (1u << 24) + 1, 0x7fffffffu, 0xffffffffu}) {
            QCOMPARE(made.write(path(), format), std::string());
            QByteArray bytes = contents(path());
            SavedKvHeader header = format->header(0);
            header.tokens = tokens;
            header.checksum = SavedKvFormat::header_checksum(header);
            std::memcpy(bytes.data(), &header, sizeof header);
            put(path(), bytes);
            const ReadKv read = read_kv(path(), format, made.ids);
            QCOMPARE(read.miss, tokens > 1u << 24 ? SavedKvMiss::Damaged : SavedKvMiss::None);
            QVERIFY(read.replies.empty());
            QVERIFY(read.ids.size() <= 64);
        }
        // Replies that claim more than there is.
        const std::uint64_t chain = 9;
        std::vector<std::byte> replies = pack_replies({{1, 2}, {3}}, chain);
        QCOMPARE(unpack_replies(replies, chain), (SavedReplies{{1, 2}, {3}}));
        for (const std::size_t at : {std::size_t(8), std::size_t(12)}) {
            std::vector<std::byte> more = replies;
            std::memset(more.data() + at, 0xff, 4);
            const std::uint64_t sum = checksum(std::span(more).subspan(8), chain);
            std::memcpy(more.data(), &sum, sizeof sum);
            QVERIFY(unpack_replies(more, chain).empty());
        }
    }

    void aLinkIsNotFollowed()
    {
        const std::filesystem::path target = m_folder.filePath("mine").toStdString();
        put(target, "precious");
        std::filesystem::remove(path());
        std::error_code error;
        std::filesystem::create_symlink(target, path(), error);
        if (error)
            QSKIP("this file system has no links");
        QVERIFY(!MadeKv(10, 1).write(path(), saved_format()).empty());
        QCOMPARE(contents(target), QByteArray("precious"));
        std::filesystem::remove(path());
    }
};

SPILLWAY_TEST(QCoreApplication, TestSavedKvFile)
#include "tst_saved_kv_file.moc"
