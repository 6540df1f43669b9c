// ModelCompanion holds what the page of a repository shows of a file that goes with its models.
#pragma once

#include "app/net/companion_kind.h"
#include "app/net/quantisation.h"
#include "app/text/visible_text.h"

#include <QObject>
#include <QString>
#include <QtQml/qqmlregistration.h>

/// What companions are for; as net::CompanionKind.
namespace Companion {
Q_NAMESPACE
QML_ELEMENT
enum Kind { Projector, Drafter };
Q_ENUM_NS(Kind)
}  // namespace Companion

static_assert(int(Companion::Drafter) == int(net::CompanionKind::Drafter));

/// Holds what the page shows of a companion, as a value.
class ModelCompanion
{
    Q_GADGET
    QML_VALUE_TYPE(modelCompanion)
    Q_PROPERTY(QString name MEMBER name CONSTANT)
    Q_PROPERTY(double bytes MEMBER bytes CONSTANT)
    Q_PROPERTY(Companion::Kind kind MEMBER kind CONSTANT)
    Q_PROPERTY(bool wanted MEMBER wanted CONSTANT)

public:
    ModelCompanion() = default;
    explicit ModelCompanion(const net::HubFile& file)
        : name(VisibleText::of(QString::fromStdString(file.path)))
        , path(QString::fromStdString(file.path))
        , bytes(double(file.bytes))
        , kind(Companion::Kind(net::companion_kind(file.path).value_or(net::CompanionKind::Projector)))
    {
    }

    QString name;  // safe to show
    QString path;  // in the repository
    double bytes = 0;
    Companion::Kind kind = Companion::Projector;
    bool wanted = false;  // the user has ticked it: it is fetched with the model
    bool here = false;    // it is on this computer already
};
Q_DECLARE_METATYPE(ModelCompanion)
