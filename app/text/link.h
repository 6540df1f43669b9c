// Decides which addresses links of a text may have.
#pragma once

#include <QString>

/// Returns the address in full, fit to be shown and opened, if it is http, https or mailto; else empty. Characters that
/// are not ASCII are encoded (host names as they go over the wire), so that no address looks like another.
QString safeLink(const QString& address);
/// Returns the part of a safe link that decides where it leads: the host, or the mailbox.
QString linkTarget(const QString& link);
