// Tests that messages can be edited, answered again, continued and branched off, and that all versions are there after
// a restart.
#include "app/chat/composer_controller.h"
#include "tests/support/chat_bench.h"
#include "tests/support/test_program.h"

#include <QApplication>
#include <QClipboard>
#include <QMimeData>
#include <QSignalSpy>

using namespace std::chrono_literals;
using Status = MessageModel::Status;

class TestChatVersions : public QObject, private ChatCase
{
    Q_OBJECT

private:
    int version(int row) const { return bench->at(row, MessageModel::VersionRole).toInt(); }
    int versions(int row) const { return bench->at(row, MessageModel::VersionCountRole).toInt(); }

private Q_SLOTS:
    void init()
    {
        makeBench();
        bench->openModel();
    }

    void cleanup() { bench.reset(); }

    void anAnswerIsMadeAgain()
    {
        bench->says("first");
        bench->answer("question");
        bench->says("second");
        chat->turn()->retry();
        settle();
        QCOMPARE(bench->texts(), (QStringList{"question", "second"}));
        QCOMPARE(version(1), 2);
        QCOMPARE(versions(1), 2);
        QCOMPARE(sent().size(), size_t(1));  // the model does not see its first try

        chat->versions()->showPrevious(bench->lastId());
        QCOMPARE(bench->lastText(), "first");
        chat->versions()->step(-1);  // there is none before it
        QCOMPARE(bench->lastText(), "first");
        bench->says("third");
        chat->turn()->regenerate(bench->lastId());
        settle();
        QCOMPARE(versions(1), 3);
        chat->versions()->step(-1);
        QCOMPARE(bench->lastText(), "second");
        bench->answer("next");
        QCOMPARE(sent()[1].text.c_str(), "second");
        restart();
        QCOMPARE(bench->texts()[1], "second");
        QCOMPARE(versions(1), 3);
        QCOMPARE(bench->texts().size(), 4);
    }

    void aQuestionIsEdited()
    {
        bench->says("yes");
        bench->answer("first question");
        bench->answer("second question");
        const QString first = bench->idAt(0);
        QVERIFY(!chat->versions()->edit(first, "  "));
        QVERIFY(!chat->versions()->edit("nobody", "text"));
        chat->setDraft("half a thought");
        QVERIFY(chat->versions()->edit(first, "another question"));
        QCOMPARE(chat->draft(), "half a thought");
        settle();
        QCOMPARE(bench->texts(), (QStringList{"another question", "yes"}));
        QCOMPARE(versions(0), 2);
        QCOMPARE(sent().size(), size_t(1));
        chat->versions()->step(-1);
        QCOMPARE(bench->texts().size(), 4);                                  // with all that followed
        QVERIFY(chat->versions()->edit(bench->idAt(2), "second question"));  // unchanged: answered once more
        settle();
        QCOMPARE(versions(2), 1);
        QCOMPARE(versions(3), 2);
    }

    void anAnswerIsEdited()
    {
        bench->says("the moon is cheese");
        bench->answer("question");
        const auto requests = bench->script->requests().size();
        QVERIFY(chat->versions()->edit(bench->lastId(), "the moon is rock"));
        QVERIFY(!chat->turn()->busy());
        QCOMPARE(bench->script->requests().size(), requests);
        QCOMPARE(bench->lastText(), "the moon is rock");
        QCOMPARE(versions(1), 2);
        bench->answer("sure?");
        QCOMPARE(sent()[1].text.c_str(), "the moon is rock");
        restart();
        QCOMPARE(bench->texts()[1], "the moon is rock");
    }

    /// The middle button pastes no more than Ctrl+V does.
    void aLongSelectionBecomesAFile()
    {
        ComposerController composer(*chat, *bench->turns, *bench->thread, bench->store->attachmentsFolder());
        QMimeData selected;
        selected.setText("short");
        QVERIFY(!composer.takeAsFile(&selected));
        QVERIFY(!composer.takeAsFile(nullptr));  // nothing is selected, or no such thing is known here
        selected.setText(QString(ComposerController::kLongPaste, 'x'));
        QVERIFY(composer.takeAsFile(&selected));
        QVERIFY(composer.pasteBecameFile());
        QCOMPARE(composer.attachments()->count(), 1);
    }

    /// The answer to what cannot be kept could not be kept, either.
    void whatIsTooLongToBeKeptIsNotSent()
    {
        const QSignalSpy failed(bench->store.get(), &ConversationStore::failed);
        const QString tooLong(kLongestMessage_chars + 1, 'x');
        ComposerController composer(*chat, *bench->turns, *bench->thread, bench->store->attachmentsFolder());
        QSignalSpy changed(&composer, &ComposerController::obstacleChanged);
        chat->setDraft(tooLong);
        QVERIFY2(composer.obstacle().contains("length"), qPrintable(composer.obstacle()));
        QVERIFY(!changed.empty());
        QVERIFY(!composer.send(tooLong));
        QVERIFY(!chat->turn()->send(tooLong));
        QCOMPARE(chat->draft().size(), tooLong.size());
        chat->setDraft("question");
        QCOMPARE(composer.obstacle(), "");
        bench->answer("question");
        QVERIFY(!chat->versions()->edit(bench->idAt(0), tooLong));
        QVERIFY(!chat->versions()->edit(bench->idAt(1), tooLong));
        QCOMPARE(chat->messages()->count(), 2);
        bench->store->flush();
        QVERIFY(failed.empty());
    }

    void aCutAnswerGoesOn()
    {
        bench->saysForever();
        QVERIFY(chat->turn()->send("question"));
        QTRY_VERIFY(bench->lastText().size() > 4);
        QVERIFY(!bench->last(MessageModel::CanContinueRole).toBool());
        chat->turn()->stop();
        settle();
        QVERIFY(bench->last(MessageModel::CanContinueRole).toBool());
        const QString before = bench->last(MessageModel::RawTextRole).toString();
        const int tokens = bench->last(MessageModel::OwnTokensRole).toInt();
        bench->script->change([](auto& settings) {
            settings.words = {"and ", "on"};
            settings.per_token = 0us;
        });
        chat->turn()->continueAnswer(bench->lastId());
        settle();
        QCOMPARE(bench->last(MessageModel::RawTextRole).toString(), before + "and on");
        QCOMPARE(bench->lastStatus(), Status::Complete);
        QCOMPARE(bench->last(MessageModel::OwnTokensRole).toInt(), tokens + 2);
        QVERIFY(bench->script->requests().back().continue_last);
        QCOMPARE(sent().back().role.c_str(), "assistant");
        QCOMPARE(QString::fromStdString(sent().back().text), before);
        QCOMPARE(versions(1), 1);
        restart();
        QCOMPARE(bench->last(MessageModel::RawTextRole).toString(), before + "and on");
    }

    /// Which places were guessed is known as long as the program runs, whatever is shown meanwhile.
    void whatWasGuessedOfAnAnswerIsRemembered()
    {
        bench->script->change([](auto& settings) {
            settings.words = {"one ", "two ", "three "};
            settings.guessed = {{4, 8}};
        });
        ConversationSettings settings;
        settings.sampling["max_tokens"] = 2;
        chat->setSettings(settings);
        QVERIFY(chat->turn()->send("question"));
        settle();
        QCOMPARE(chat->messages()->guessedPlaces(1), QList<int>({4, 8}));
        QVERIFY(chat->messages()->guessedPlaces(0).isEmpty());
        chat->turn()->continueAnswer(bench->lastId());
        settle();
        QCOMPARE(chat->messages()->guessedPlaces(1), QList<int>({4, 8, 12, 16}));
        const QString conversation = chat->conversationId();
        chat->newConversation();
        chat->open(conversation);
        QCOMPARE(chat->messages()->guessedPlaces(1), QList<int>({4, 8, 12, 16}));
        bench->script->change([](auto& changed) { changed.guessed = {}; });
        chat->turn()->regenerate(bench->lastId());
        settle();
        QVERIFY(chat->messages()->guessedPlaces(1).isEmpty());
    }

    void aLengthLimitCanBeGoneBeyond()
    {
        ConversationSettings settings;
        settings.sampling["max_tokens"] = 2;
        settings.sampling["temperature"] = 0.5;
        settings.systemPrompt = "be brief";
        chat->setSettings(settings);
        bench->answer("question");
        QCOMPARE(bench->lastStatus(), Status::LengthLimit);
        QCOMPARE(bench->script->requests().back().sampling.temperature, 0.5f);
        QCOMPARE(sent().front().role.c_str(), "system");
        chat->turn()->continueAnswer(bench->lastId());
        settle();
        QCOMPARE(bench->lastText().trimmed(), "one two one two");
        restart();
        QCOMPARE(chat->settings(), settings);
    }

    void aMessageOfAnotherVersionIsShown()
    {
        bench->says("old words");
        bench->answer("first question");
        const QString old = bench->lastId();
        bench->answer("and then?");
        const QString below = bench->lastId();
        QVERIFY(chat->versions()->edit(bench->idAt(0), "another question"));
        settle();
        bench->says("new words");
        chat->turn()->retry();
        settle();
        QCOMPARE(bench->texts(), (QStringList{"another question", "new words"}));
        QVERIFY(!chat->versions()->showMessage("nobody"));
        QVERIFY(chat->versions()->showMessage(below));
        QCOMPARE(bench->texts(), (QStringList{"first question", "old words", "and then?", "old words"}));
        const QSignalSpy changed(chat->context(), &ChatContext::changed);
        QVERIFY(chat->versions()->showMessage(old));  // it is shown already, with what came after it
        QCOMPARE(changed.size(), 0);
        QCOMPARE(bench->texts().size(), 4);
        restart();
        QCOMPARE(bench->texts().size(), 4);
    }

    void aBranchIsAConversation()
    {
        bench->says("yes");
        bench->answer("first");
        bench->answer("second");
        const QString original = chat->conversationId();
        QSignalSpy opened(chat, &ChatController::opened);
        chat->versions()->branch("nobody");
        QCOMPARE(opened.size(), 0);
        chat->versions()->branch(bench->idAt(1));
        QCOMPARE(opened.size(), 1);
        QVERIFY(chat->conversationId() != original);
        QCOMPARE(bench->texts(), (QStringList{"first", "yes"}));
        bench->answer("other");
        QCOMPARE(bench->script->branched_from(), std::vector{bench->script->sequences().front()});
        QVERIFY(chat->open(original));
        QCOMPARE(bench->texts(), (QStringList{"first", "yes", "second", "yes"}));
        QCOMPARE(bench->store->conversations().size(), 2);

        chat->versions()->branch(bench->idAt(2));  // at a question: it waits for an answer
        QVERIFY(bench->last(MessageModel::UnansweredRole).toBool());
        chat->turn()->retry();
        settle();
        QCOMPARE(bench->texts(), (QStringList{"first", "yes", "second", "yes"}));
    }

    void whatTheModelIsNotGiven()
    {
        bench->script->change([](auto& settings) {
            settings.generate_error = {engine::Error::Code::NoMemory, "it broke"};
        });
        bench->answer("failed at once");
        bench->script->change([](auto& settings) { settings.generate_error.reset(); });
        bench->answer("now");
        QCOMPARE(sent().size(), size_t(1));
        QCOMPARE(sent()[0].text.c_str(), "now");
    }

    void aFailedAnswerIsReplaced()
    {
        bench->script->change([](auto& settings) {
            settings.generate_error = {engine::Error::Code::NoMemory, "it broke"};
        });
        bench->answer("question");
        const QString id = bench->lastId();
        bench->script->change([](auto& settings) { settings.generate_error.reset(); });
        chat->turn()->retry();
        settle();
        QCOMPARE(bench->lastId(), id);
        QCOMPARE(versions(1), 1);
        QCOMPARE(bench->lastStatus(), Status::Complete);
    }

    void nothingIsLostWhenTheProgramEnds()
    {
        chat->setDraft("typed");
        const QString drafted = chat->conversationId();
        chat->newConversation();
        QVERIFY(chat->draft().isEmpty());
        bench->saysForever();
        QVERIFY(chat->turn()->send("A question that is rather long, so that its title cannot be all of it, by far"));
        QVERIFY(chat->title().startsWith("A question that is rather long"));
        QVERIFY(chat->title().size() <= 62);
        QTRY_VERIFY(bench->lastText().size() > 4);
        const QString text = bench->last(MessageModel::RawTextRole).toString();
        restart();  // in the middle of the answer
        QCOMPARE(bench->lastStatus(), Status::Interrupted);
        QVERIFY(bench->last(MessageModel::RawTextRole).toString().startsWith(text));
        QVERIFY(bench->last(MessageModel::CanContinueRole).toBool());
        QVERIFY(!chat->turn()->busy());
        bench->openModel();
        bench->script->change([](auto& settings) {
            settings.words = {"end"};
            settings.per_token = 0us;
        });
        chat->turn()->continueAnswer(bench->lastId());
        settle();
        QVERIFY(bench->lastText().endsWith("w end"));
        QVERIFY(chat->open(drafted));
        QCOMPARE(chat->draft(), "typed");
    }

    void aDraftKeepsItsFiles()
    {
        const auto compose = [this] {
            return std::make_unique<ComposerController>(*chat, *bench->turns, *bench->thread,
                                                        bench->store->attachmentsFolder());
        };
        QFile file(bench->folder.filePath("notes.txt"));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write("what was noted");
        file.close();
        auto composer = compose();
        composer->attachments()->add({QUrl::fromLocalFile(file.fileName())});
        QTRY_COMPARE(composer->attachments()->ready().size(), 1);
        QTRY_COMPARE(bench->store->conversations().size(), 1);  // by itself, after a moment: it is worth keeping
        const QString drafted = chat->conversationId();
        chat->newConversation();
        QVERIFY(chat->conversationId() != drafted);
        QCOMPARE(composer->attachments()->count(), 0);
        QVERIFY(chat->open(drafted));
        composer.reset();
        restart();

        composer = compose();
        QTRY_COMPARE(composer->attachments()->ready().size(), 1);
        QCOMPARE(composer->attachments()->ready()[0].text, "what was noted");
        bench->openModel();
        QVERIFY(composer->send("Read it"));
        settle();
        QVERIFY(QString::fromStdString(sent()[0].text).contains("what was noted"));
        QVERIFY(chat->draftFiles().isEmpty());
        QVERIFY(chat->versions()->edit(bench->idAt(0), "Read it again"));
        settle();
        QVERIFY(QString::fromStdString(sent()[0].text).contains("what was noted"));
        QVERIFY(!chat->versions()->edit(bench->idAt(0), " ", {}));  // nothing would be left
        QVERIFY(chat->versions()->edit(bench->idAt(0), "Read it again", {}));
        settle();
        QCOMPARE(sent()[0].text.c_str(), "Read it again");
        composer.reset();
        restart();
        composer = compose();
        QCOMPARE(composer->attachments()->count(), 0);
    }

    void aFileIsReadForAConversationThatIsLeft()
    {
        ComposerController composer(*chat, *bench->turns, *bench->thread, bench->store->attachmentsFolder());
        const auto attach = [&](const QString& name, const QByteArray& text) {
            QFile file(bench->folder.filePath(name));
            if (file.open(QIODevice::WriteOnly))
                file.write(text);
            file.close();
            composer.attachments()->add({QUrl::fromLocalFile(file.fileName())});
        };
        const auto filesOf = [&](const QString& id) {
            const auto stored = bench->store->conversation(id);
            return stored ? stored->header.draftFiles.size() : -1;
        };
        bench->store->save(ConversationHeader{.id = "other", .title = "Other", .titleByUser = true});
        const QString left = chat->conversationId();
        attach("a.txt", "first");
        QVERIFY(chat->open("other"));  // while it is read
        QTRY_COMPARE(filesOf(left), 1);
        QVERIFY(chat->open(left));
        QCOMPARE(composer.attachments()->ready().size(), 1);
        attach("b.txt", "second");
        QVERIFY(chat->open("other"));
        QTRY_COMPARE(filesOf(left), 2);

        chat->newConversation();
        const QString unread = chat->conversationId();
        QVERIFY(unread != "other");
        const QSignalSpy readElsewhere(composer.attachments(), &AttachmentModel::readElsewhere);
        attach("c.txt", "");  // nothing can be read in it
        QVERIFY(chat->open("other"));
        QVERIFY(bench->open->find(unread));
        QTRY_COMPARE(readElsewhere.size(), 1);
        QVERIFY(!bench->open->find(unread));
        QCOMPARE(filesOf(unread), -1);
        QCOMPARE(filesOf("other"), 0);

        chat->newConversation();
        const QString seen = chat->conversationId();
        attach("c.txt", "");
        QTRY_COMPARE(composer.attachments()->failed(), 1);
        QVERIFY(chat->open("other"));
        QVERIFY(!bench->open->find(seen));

        // Another conversation is kept for its draft alone, and the draft is deleted.
        chat->newConversation();
        const QString emptied = chat->conversationId();
        chat->setDraft("x");
        QTRY_VERIFY(bench->store->conversation(emptied));
        chat->setDraft("");
        attach("c.txt", "");
        QVERIFY(chat->open("other"));
        QVERIFY(bench->store->conversation(emptied));
        QTRY_VERIFY(!bench->store->conversation(emptied));
    }

    /// The answers would wait for the count, also that of another conversation's file.
    void filesAreCountedBetweenAnswers()
    {
        ComposerController composer(*chat, *bench->turns, *bench->thread, bench->store->attachmentsFolder());
        AttachmentModel* const files = composer.attachments();
        bench->script->change([](auto& settings) { settings.count_text = 1h; });
        files->addText("a.txt", "one two three");
        QTRY_COMPARE(bench->script->counted_texts(), 1);
        bench->says("yes");
        bench->answer("question");  // which ends the count
        QTRY_COMPARE(bench->script->counted_texts(), 2);
        bench->script->change([](auto& settings) { settings.count_text = {}; });
        bench->saysForever();
        QVERIFY(chat->turn()->send("question"));
        QTRY_VERIFY(!bench->lastText().isEmpty());
        QVERIFY(composer.counting());
        QCOMPARE(composer.attachedTokens(), 0);
        chat->turn()->stop();
        QTRY_VERIFY(composer.attachedTokens() > 0);
        QVERIFY(!composer.counting());
        QCOMPARE(bench->script->counted_texts(), 3);
    }

    void thePasteThatIsPutBackIsTheLastOne()
    {
        ComposerController composer(*chat, *bench->turns, *bench->thread, bench->store->attachmentsFolder());
        AttachmentModel* const files = composer.attachments();
        files->addText("Pasted text.txt", "of another day");
        const QString text = QString("line\n").repeated(ComposerController::kLongPaste);
        QGuiApplication::clipboard()->setText(text);
        QVERIFY(composer.paste());
        QCOMPARE(files->data(files->index(1), AttachmentModel::NameRole), "Pasted text.txt");
        QTRY_COMPARE(files->ready().size(), 2);
        QVERIFY(composer.pasteBecameFile());
        QCOMPARE(composer.takePasteBack(), text);
        QVERIFY(!composer.pasteBecameFile());
        QCOMPARE(files->ready().size(), 1);
        QCOMPARE(files->ready()[0].text, "of another day");

        QVERIFY(composer.paste());
        QTRY_COMPARE(files->ready().size(), 2);
        QVERIFY(composer.paste());  // the same once more
        QTRY_VERIFY(!files->notice().isEmpty());
        QCOMPARE(files->count(), 2);
        QVERIFY(!composer.pasteBecameFile());
        QCOMPARE(composer.takePasteBack(), QString());
        QCOMPARE(files->count(), 2);
    }

    void aDraftWhoseFileHasGoneIsSentWithoutIt()
    {
        auto composer = std::make_unique<ComposerController>(*chat, *bench->turns, *bench->thread, QString());
        chat->setDraft("Read it");
        chat->setDraftFiles({{"notes.txt", QString(64, 'a')}});
        composer.reset();
        restart();
        composer = std::make_unique<ComposerController>(*chat, *bench->turns, *bench->thread,
                                                        bench->store->attachmentsFolder());
        QTRY_VERIFY(!composer->attachments()->reading());
        const AttachmentModel* files = composer->attachments();
        QCOMPARE(files->data(files->index(0), AttachmentModel::SentenceRole), "“notes.txt” is not there any more.");
        bench->openModel();
        QVERIFY(composer->send(chat->draft()));
        QCOMPARE(files->count(), 0);
        settle();
        QCOMPARE(sent()[0].text.c_str(), "Read it");
    }

    void textIsOnDiskWithinASecond()
    {
        bench->saysForever();
        QVERIFY(chat->turn()->send("question"));
        const QString id = chat->conversationId();
        const auto stored = bench->store->conversation(id);  // before the first word
        QVERIFY(stored);
        QCOMPARE(stored->header.title, "question");
        QCOMPARE(stored->messages.size(), 2);
        QCOMPARE(stored->messages[1].status, StoredMessage::Status::Streaming);
        QTRY_VERIFY_WITH_TIMEOUT(!bench->store->conversation(id)->messages[1].text.isEmpty(), 3000);
        QVERIFY(chat->turn()->busy());
    }

    void onlyWhatHoldsSomethingIsKept()
    {
        chat->newConversation();
        chat->setDraft("x");
        chat->setDraft("");
        const QString same = chat->conversationId();
        chat->newConversation();
        QCOMPARE(chat->conversationId(), same);
        QVERIFY(bench->store->conversations().isEmpty());
        chat->setDraft("a draft");
        QTRY_COMPARE(bench->store->conversations().size(), 1);  // by itself, after a moment
        chat->setDraft("");
        bench->saysForever();
        QVERIFY(!chat->open("nobody"));
        QVERIFY(chat->turn()->send("question"));  // and with a message it stays
        QCOMPARE(bench->store->conversations().size(), 1);
    }

    void whatWasChosenAloneIsKept()
    {
        ConversationSettings chosen;
        chosen.systemPrompt = "be brief";
        chat->setSettings(chosen);
        const QString first = chat->conversationId();
        chat->newConversation();
        QVERIFY(chat->conversationId() != first);
        ConversationSettings preset;
        preset.preset = "Precise";
        chat->setSettings(preset);
        const QString second = chat->conversationId();
        QCOMPARE(bench->store->conversations().size(), 2);
        QVERIFY(chat->open(first));
        restart();
        QCOMPARE(chat->settings(), chosen);

        chat->setSettings({});
        QVERIFY(chat->open(second));
        QCOMPARE(chat->settings(), preset);
        QCOMPARE(bench->store->conversations().size(), 1);  // nothing is left of the first
        QVERIFY(!chat->open(first));
    }

    void anEmptiedDraftGoes()
    {
        bench->answer("question");
        const QString other = chat->conversationId();
        chat->newConversation();
        chat->setDraft("a draft");
        QTRY_COMPARE(bench->store->conversations().size(), 2);
        chat->setDraft("");
        QVERIFY(chat->open(other));
        QCOMPARE(bench->store->conversations().size(), 1);
        QCOMPARE(chat->conversationId(), other);
    }

    void anEmptiedDraftIsNotListed()
    {
        chat->setDraft("a draft");
        QTRY_COMPARE(bench->store->conversations().size(), 1);
        const QString drafted = chat->conversationId();
        chat->setDraft("");
        QTRY_COMPARE(bench->store->conversations().size(), 0);  // by itself, after a moment
        QVERIFY(chat->conversationId() != drafted);
        chat->setDraft("another");
        QTRY_COMPARE(bench->store->conversations().size(), 1);
        bench->says("yes");
        QVERIFY(chat->turn()->send("another"));
        settle();
        chat->setDraft("more");
        QTest::qWait(4 * ChatBench::kRest_ms);
        chat->setDraft("");
        QTest::qWait(4 * ChatBench::kRest_ms);
        QCOMPARE(bench->store->conversations().size(), 1);  // something was said in it
        QCOMPARE(bench->texts().size(), 2);
    }

    void aFileThatIsNotReadIsNoReasonToKeepAConversation()
    {
        chat->setDraftFiles({}, 1);  // it cannot be read, say
        QTest::qWait(4 * ChatBench::kRest_ms);
        QCOMPARE(bench->store->conversations().size(), 0);
        const QString first = chat->conversationId();
        chat->newConversation();
        QCOMPARE(chat->conversationId(), first);
    }

    void anEmptiedDraftStaysWithWhatElseThereIs()
    {
        chat->setDraft("a draft");
        QTRY_COMPARE(bench->store->conversations().size(), 1);
        const QString first = chat->conversationId();
        chat->setDraftFiles({}, 1);  // a file is being read
        chat->setDraft("");
        QTest::qWait(4 * ChatBench::kRest_ms);
        QCOMPARE(chat->conversationId(), first);
        chat->setDraftFiles({}, 0);  // it was taken away
        QTRY_COMPARE(bench->store->conversations().size(), 0);

        const auto staysAfter = [&](const auto& choose) {
            chat->newConversation();
            chat->setDraft("a draft");
            const int before = bench->store->conversations().size();
            QTRY_COMPARE(bench->store->conversations().size(), before + 1);
            ConversationHeader header = bench->store->conversation(chat->conversationId())->header;
            choose(header);
            bench->store->save(header);
            chat->setDraft("");
            QTest::qWait(4 * ChatBench::kRest_ms);
            QCOMPARE(bench->store->conversations().size(), before + 1);
        };
        staysAfter([](ConversationHeader& header) { header.titleByUser = true, header.title = "Plan"; });
        staysAfter([](ConversationHeader& header) { header.pinned = true; });
        staysAfter([](ConversationHeader& header) { header.folder = "Work"; });
    }

    void renamedAndTrashedElsewhere()
    {
        bench->answer("question");
        QCOMPARE(chat->title(), "question");
        QSignalSpy titled(chat, &ChatController::titleChanged);
        ConversationHeader header = bench->store->conversations().first();
        header.title = "My own name";
        header.titleByUser = true;
        bench->store->save(header);
        QCOMPARE(chat->title(), "My own name");
        QCOMPARE(titled.size(), 1);
        bench->answer("more");
        QCOMPARE(bench->store->conversations().first().title, "My own name");

        bench->saysForever();
        QVERIFY(chat->turn()->send("and more"));
        QTRY_COMPARE(chat->turn()->state(), ChatTurn::Answering);
        bench->store->moveToTrash(header.id);
        QVERIFY(chat->conversationId() != header.id);
        QCOMPARE(chat->messages()->count(), 0);
        QTRY_COMPARE(bench->script->stopped_turns(), 1);
        QVERIFY(bench->store->conversations().isEmpty());
    }
};

SPILLWAY_TEST(QApplication, TestChatVersions)
#include "tst_chat_versions.moc"
