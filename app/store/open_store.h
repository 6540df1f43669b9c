// openStore() finds, checks or makes the database.
#pragma once

#include <QString>

/// Says where conversations are kept from now on, and what the user has to know about it.
struct OpenedStore {
    QString database = {};  // a name for Database
    bool inMemory = false;
    bool readOnly = false;  // nothing can be written; new conversations live in memory
    QString notice = {};    // one sentence; empty: all is well
    bool toCheck = false;   // its indexes have to be checked, when there is time, until setChecked() is called
};

/// Opens or makes the database in `folder`, whose attachments lie in `attachments`. See ConversationStore.
OpenedStore openStore(const QString& folder, const QString& attachments);

/// Makes the tables in an empty database. Empty when it worked, else why not.
QString makeTables(const QString& database);

/// Has the database checked thoroughly whenever it is opened, until setChecked() says that this was done.
void checkAtNextOpen(const QString& database);
void setChecked(const QString& database);
