#include "app/attachments/attachment_facts.h"

#include "app/models/visible_text.h"

AttachmentFacts::AttachmentFacts(const Attachment& attachment)
    : name(VisibleText::of(attachment.name).simplified())
    , kind(attachment.kind)
    , bytes(double(attachment.bytes))
    , tokens(attachment.tokens ? QVariant(*attachment.tokens) : QVariant())
    , text(attachment.text)
{
}

QVariantList attachmentFacts(const QList<Attachment>& attachments)
{
    QVariantList facts;
    for (const Attachment& attachment : attachments)
        facts.append(QVariant::fromValue(AttachmentFacts(attachment)));
    return facts;
}
