#include "app/attachments/attachment_facts.h"

#include "app/attachments/field_text.h"
#include "app/text/visible_text.h"

#include <algorithm>

namespace {

constexpr qsizetype kMostShown_chars = 200'000;  // a longer text would keep the window waiting

}  // namespace

AttachmentFacts::AttachmentFacts(const Attachment& attachment)
    : id(attachment.id)
    , name(VisibleText::of(attachment.name).simplified())
    , kind(attachment.kind)
    , bytes(double(attachment.bytes))
    , tokens(attachment.tokens ? QVariant(*attachment.tokens) : QVariant())
    , m_text(attachment.text)
{
}

QString AttachmentFacts::text() const
{
    return VisibleText::of(QStringView(m_text).first(std::min(m_text.size(), kMostShown_chars)));
}

bool AttachmentFacts::editable() const
{
    return !m_text.isEmpty() && fitsTheField(m_text);
}

QVariantList attachmentFacts(const QList<Attachment>& attachments)
{
    QVariantList facts;
    for (const Attachment& attachment : attachments)
        facts.append(QVariant::fromValue(AttachmentFacts(attachment)));
    return facts;
}

#include "moc_attachment_facts.cpp"
