// ModelEntry holds what the model page shows of one model: a row.
#pragma once

#include "app/catalogue/model_facts.h"
#include "app/catalogue/places.h"
#include "engine/model_info.h"

#include <QObject>
#include <QString>
#include <QStringList>
#include <QtQml/qqmlregistration.h>

/// What a file is good for.
namespace ModelKind {
Q_NAMESPACE
QML_ELEMENT
enum Kind {
    Chat,        // has a chat template
    Base,        // continues text
    Embedding,   // turns text into numbers
    Vocabulary,  // no weights
    Adapter,     // a change to another model
    Projector,   // turns pictures into input of another model
    Draft,       // guesses for a larger model
    Broken,      // cannot be read
};
Q_ENUM_NS(Kind)
}  // namespace ModelKind

/// Holds what is known of one model file, or of a split model's files together, as a value for the pages. What comes
/// from files and other programs has been made safe to show; `path` is as it is.
class ModelEntry
{
    Q_GADGET
    QML_VALUE_TYPE(modelEntry)
    Q_PROPERTY(QString id MEMBER id CONSTANT)
    Q_PROPERTY(QString title MEMBER title CONSTANT)
    Q_PROPERTY(QString path MEMBER path CONSTANT)
    Q_PROPERTY(QString shownPath READ shownPath CONSTANT)
    Q_PROPERTY(QString storeName READ storeName CONSTANT)
    Q_PROPERTY(QString origin MEMBER origin CONSTANT)
    Q_PROPERTY(QString otherNames READ otherNames CONSTANT)
    Q_PROPERTY(ModelFacts facts MEMBER facts CONSTANT)
    Q_PROPERTY(ModelKind::Kind kind MEMBER kind CONSTANT)
    Q_PROPERTY(bool openable READ openable CONSTANT)
    Q_PROPERTY(QString obstacle MEMBER obstacle CONSTANT)
    Q_PROPERTY(QStringList remarks READ remarks CONSTANT)
    Q_PROPERTY(QString projector MEMBER projector CONSTANT)
    Q_PROPERTY(double bytes MEMBER bytes CONSTANT)
    Q_PROPERTY(bool silent MEMBER silent CONSTANT)

public:
    bool openable() const { return obstacle.isEmpty() && kind != ModelKind::Broken; }
    QString shownPath() const;
    QString storeName() const;
    QString titleWithQuantisation() const;  // which tells files of one model apart
    QString otherNames() const { return alsoNamed.join(QStringLiteral(", ")); }
    QStringList remarks() const { return obstacle.isEmpty() ? notes : QStringList(obstacle) + notes; }

    QString id;  // the file's path without links, which is the same for all links to it; of a server's model its path
    QString title;
    QString path;  // as it is opened
    Store store = Store::Folder;
    QString origin;         // as its store calls it; empty: only by its file name
    QStringList alsoNamed;  // further tags or revisions of the same bytes
    ModelFacts facts;
    engine::ModelInfo info;  // for the numbers
    ModelKind::Kind kind = ModelKind::Broken;
    QString obstacle;     // why it cannot be opened, one sentence; empty: it can
    QStringList notes;    // what else is worth knowing, a sentence each
    QString projector;    // file name of the projector that lies beside it
    double bytes = 0;     // on disk, all parts
    bool silent = false;  // of a server that did not answer when it was asked last; it may be back
};
Q_DECLARE_METATYPE(ModelEntry)
