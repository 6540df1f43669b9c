// Decides which addresses a text may lead to.
#pragma once

#include <QString>

/// The address in full, fit to be shown and opened, when it is http, https or mailto; else empty. Characters that are
/// not ASCII are written out (host names as they go over the wire), so that no address looks like another.
QString safeLink(const QString& address);
/// The part of a safe link that decides where it leads: the host, or the mailbox.
QString linkTarget(const QString& link);
