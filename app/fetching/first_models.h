// firstModels() names a few good models to begin with, for users who know none.
#pragma once

#include <QDate>
#include <QList>
#include <QObject>
#include <QString>
#include <QtQml/qqmlregistration.h>

/// One of them, as a value for the pages.
class FirstModel
{
    Q_GADGET
    QML_VALUE_TYPE(firstModel)
    Q_PROPERTY(QString modelId MEMBER modelId CONSTANT)
    Q_PROPERTY(QString name MEMBER name CONSTANT)
    Q_PROPERTY(double bytes MEMBER bytes CONSTANT)
    Q_PROPERTY(QString licence MEMBER licence CONSTANT)
    Q_PROPERTY(bool fits MEMBER fits CONSTANT)

public:
    QString modelId;   // "ORG/REPO"
    QString name;      // "Qwen3 4B"
    double bytes = 0;  // about, of the usual quantisation
    QString licence;
    bool fits = true;  // into the memory that is free now, by its size
};
Q_DECLARE_METATYPE(FirstModel)

struct FirstModels {
    QDate date;  // when the list was made
    QList<FirstModel> models;
};

/// Returns the list that comes with the program. `freeBytes`: free memory; negative: not known.
FirstModels firstModels(double freeBytes);
