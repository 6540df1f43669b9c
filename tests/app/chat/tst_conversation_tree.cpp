// Tests that messages form a tree whose versions all stay reachable: by hand, and by a thousand random steps beside a
// reference that is too simple to be wrong.
#include "app/chat/conversation_tree.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

namespace {

StoredMessage message(const QString& id, const QString& parent)
{
    StoredMessage made;
    made.id = id;
    made.parent = parent;
    made.text = "text of " + id;
    return made;
}

QStringList ids(const QList<const StoredMessage*>& path)
{
    QStringList all;
    for (const StoredMessage* message : path)
        all += message->id;
    return all;
}

/// Parents by id in the order in which they were added, and by parent the child that is shown.
struct Reference {
    std::vector<std::pair<QString, QString>> nodes;
    std::map<QString, QString> shown;

    QStringList versions(const QString& parent) const
    {
        QStringList all;
        for (const auto& [id, itsParent] : nodes)
            if (itsParent == parent)
                all += id;
        return all;
    }
    QString parentOf(const QString& id) const
    {
        for (const auto& [known, parent] : nodes)
            if (known == id)
                return parent;
        return {};
    }
    void show(QString id)
    {
        for (; !id.isEmpty(); id = parentOf(id))
            shown[parentOf(id)] = id;
    }
    QStringList path() const
    {
        QStringList all;
        for (auto at = shown.find({}); at != shown.end(); at = shown.find(all.last()))
            all += at->second;
        return all;
    }
};

}  // namespace

class TestConversationTree : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void anEmptyOne()
    {
        ConversationTree tree;
        QVERIFY(tree.isEmpty());
        QVERIFY(tree.path().isEmpty());
        QVERIFY(tree.leaf().isEmpty());
        QVERIFY(!tree.find("x"));
        QVERIFY(!tree.showVersion("x", 1));
        QVERIFY(!tree.removeLast("x"));
        QCOMPARE(tree.versionCount("x"), 0);
        QVERIFY(tree.pathTo("x").isEmpty());
    }

    void versionsStayReachable()
    {
        ConversationTree tree;
        for (const auto& [id, parent] : {std::pair{"q1", ""}, {"a1", "q1"}, {"q2", "a1"}, {"a2", "q2"}})
            QVERIFY(tree.add(message(id, parent)));
        QVERIFY(tree.add(message("a1b", "q1")));  // answered again
        QCOMPARE(ids(tree.path()), (QStringList{"q1", "a1b"}));
        QCOMPARE(tree.version("a1b"), 2);
        QCOMPARE(tree.versionCount("a1"), 2);
        QCOMPARE(ids(tree.after("q1")), (QStringList{"a1", "a1b"}));
        QCOMPARE(ids(tree.after("a1")), QStringList("q2"));  // also off the path
        QVERIFY(tree.after("a1b").isEmpty() && tree.after("nobody").isEmpty());
        QVERIFY(!tree.onPath("a2"));

        QVERIFY(tree.showVersion("a1b", -1));  // with what came after it
        QCOMPARE(ids(tree.path()), (QStringList{"q1", "a1", "q2", "a2"}));
        QVERIFY(!tree.showVersion("a1", -1));
        QVERIFY(!tree.showVersion("a1", 2));
        QVERIFY(tree.add(message("q1b", "")));  // the first message, edited
        QCOMPARE(tree.leaf(), "q1b");
        QVERIFY(tree.showVersion("q1b", -1));
        QCOMPARE(tree.leaf(), "a2");
        QCOMPARE(ids(tree.pathTo("a1b")), (QStringList{"q1", "a1b"}));

        QVERIFY(tree.add(message("a2b", "q2")));
        QVERIFY(!tree.removeLast("a2"));
        QVERIFY(tree.removeLast("a2b"));
        QCOMPARE(tree.leaf(), "a2");
        QVERIFY(!tree.find("a2b"));
        QVERIFY(tree.add(message("a2b", "q2")));  // the id is free again
    }

    void whatIsReadBack()
    {
        const QList<StoredMessage> messages = {message("q1", {}), message("a1", "q1"), message("a1b", "q1"),
                                               message("q2", "a1")};
        QCOMPARE(ConversationTree(messages).leaf(), "a1b");  // what was made last
        QCOMPARE(ConversationTree(messages, "a1").leaf(), "q2");
        QCOMPARE(ConversationTree(messages, "a1b").leaf(), "a1b");
        QCOMPARE(ConversationTree(messages, "nobody").leaf(), "a1b");
        QCOMPARE(ConversationTree(messages).messages().size(), 4);
    }

    void whatMakesNoSenseIsLeftOut()
    {
        const ConversationTree tree({message("", ""), message("a", "b"), message("b", ""), message("b", ""),
                                     message("c", "c"), message("d", "b"), message("e", "nobody")});
        QCOMPARE(tree.size(), 2);
        QCOMPARE(ids(tree.path()), (QStringList{"b", "d"}));
        ConversationTree more = tree;
        QVERIFY(!more.add(message("d", "b")));
        QVERIFY(!more.add(message("f", "nobody")));
    }

    void aThousandMessages()
    {
        QList<StoredMessage> messages;
        for (int i = 0; i < 1000; ++i)
            messages.append(message(QString::number(i), i ? QString::number(i - 1) : QString()));
        const ConversationTree tree(messages);
        QCOMPARE(tree.path().size(), 1000);
        QCOMPARE(tree.leaf(), "999");
    }

    void likeTheReference()
    {
        const unsigned seed = std::random_device()();
        qInfo("seed %u", seed);
        std::mt19937 random(seed);
        const auto below = [&](size_t n) { return size_t(random() % n); };
        for (int round = 0; round < 20; ++round) {
            ConversationTree tree;
            Reference reference;
            for (int step = 0; step < 150; ++step) {
                const QString any =
                    reference.nodes.empty() ? QString() : reference.nodes[below(reference.nodes.size())].first;
                switch (below(6)) {
                case 0:
                case 1: {  // goes on
                    const QString id = QString::number(step);
                    const QString parent = tree.leaf();
                    QVERIFY(tree.add(message(id, parent)));
                    reference.nodes.push_back({id, parent});
                    reference.show(id);
                    break;
                }
                case 2: {  // another version, anywhere
                    const QString id = QString::number(step);
                    const QString parent = reference.parentOf(any);
                    QVERIFY(tree.add(message(id, parent)));
                    reference.nodes.push_back({id, parent});
                    reference.show(id);
                    break;
                }
                case 3: {
                    const int by = below(2) ? 1 : -1;
                    const QStringList versions = reference.versions(reference.parentOf(any));
                    const qsizetype wanted = versions.indexOf(any) + by;
                    const bool there = !any.isEmpty() && wanted >= 0 && wanted < versions.size();
                    QCOMPARE(tree.showVersion(any, by), there);
                    if (there)
                        reference.show(versions[wanted]);
                    break;
                }
                case 4:
                    tree.showPathThrough(any);
                    reference.show(any);
                    break;
                case 5:  // read back
                    tree = ConversationTree(tree.messages(), tree.leaf());
                    for (const auto& [id, parent] : std::vector(reference.nodes)) {
                        const QStringList path = reference.path();
                        if (!path.contains(id))
                            reference.shown[parent] = path.contains(reference.shown[parent])
                                                          ? reference.shown[parent]
                                                          : reference.versions(parent).last();
                    }
                    break;
                }
                QCOMPARE(ids(tree.path()), reference.path());
                QCOMPARE(tree.size(), qsizetype(reference.nodes.size()));
                if (!any.isEmpty()) {
                    const QStringList versions = reference.versions(reference.parentOf(any));
                    QCOMPARE(tree.versionCount(any), int(versions.size()));
                    QCOMPARE(tree.version(any), int(versions.indexOf(any)) + 1);
                    QCOMPARE(tree.onPath(any), reference.path().contains(any));
                }
            }
        }
    }
};

SPILLWAY_TEST(QCoreApplication, TestConversationTree)
#include "tst_conversation_tree.moc"
