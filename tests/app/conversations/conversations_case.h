// Gives each test of conversations a store of its own, and a list or a controller of it.
#pragma once

#include "app/conversations/conversations_controller.h"
#include "tests/support/conversations.h"

#include <QAbstractItemModelTester>
#include <QTemporaryDir>

#include <memory>

inline const QDateTime kNoon(QDate(2026, 11, 21), QTime(12, 0));

inline ConversationHeader header(const QString& id, const QDateTime& changed, const QString& title = "A title")
{
    return {.id = id, .title = title, .changedMs = changed.toMSecsSinceEpoch()};
}

class ConversationsCase : public QObject
{
protected:
    std::unique_ptr<QTemporaryDir> folder;
    std::unique_ptr<ConversationStore> store;
    std::unique_ptr<ConversationListModel> list;
    std::unique_ptr<ConversationsController> controller;
    QDateTime now;

    void makeList()
    {
        list = std::make_unique<ConversationListModel>(*store, [this] { return now; });
        new QAbstractItemModelTester(list.get(), QAbstractItemModelTester::FailureReportingMode::QtTest, list.get());
    }
    void makeController()
    {
        controller = std::make_unique<ConversationsController>(*store);
        for (QAbstractItemModel* model : {static_cast<QAbstractItemModel*>(controller->list()),
                                          static_cast<QAbstractItemModel*>(controller->results())})
            new QAbstractItemModelTester(model, QAbstractItemModelTester::FailureReportingMode::QtTest,
                                         controller.get());
    }
    QVariant at(int row, int role) const { return list->data(list->index(row), role); }

    /// Call both from the slots of these names.
    void init()
    {
        now = kNoon;
        folder = std::make_unique<QTemporaryDir>();
        store = std::make_unique<ConversationStore>(folder->path());
    }
    void cleanup()
    {
        controller.reset();
        list.reset();
        store.reset();
    }
};
