// AttachmentFacts describes an attached file to the pages.
#pragma once

#include "app/store/conversation.h"

#include <QObject>
#include <QVariantList>
#include <QtQml/qqmlregistration.h>

/// Holds what a page says of a file that came with a message. What it shows is safe to show.
class AttachmentFacts
{
    Q_GADGET
    QML_VALUE_TYPE(attachmentFacts)
    Q_PROPERTY(QString id MEMBER id CONSTANT)  // empty: the file was not sent yet
    Q_PROPERTY(QString name MEMBER name CONSTANT)
    Q_PROPERTY(QString kind MEMBER kind CONSTANT)
    Q_PROPERTY(double bytes MEMBER bytes CONSTANT)
    Q_PROPERTY(QVariant tokens MEMBER tokens CONSTANT)   // undefined: not known
    Q_PROPERTY(QString text READ text CONSTANT)          // what the model reads; of a long text the beginning
    Q_PROPERTY(int characters READ characters CONSTANT)  // how many the whole text has
    Q_PROPERTY(bool editable READ editable CONSTANT)     // a field can hold the whole text
    Q_PROPERTY(QString editText READ editText CONSTANT)  // the whole text as it is, which may not be safe to show

public:
    AttachmentFacts() = default;
    explicit AttachmentFacts(const Attachment& attachment);

    QString id;
    QString name;
    QString kind;
    double bytes = 0;
    QVariant tokens;
    QString text() const;
    int characters() const { return int(m_text.size()); }
    bool editable() const;
    QString editText() const { return m_text; }

private:
    QString m_text;
};

/// Returns the facts for the role `attachments` of MessageModel.
QVariantList attachmentFacts(const QList<Attachment>& attachments);
