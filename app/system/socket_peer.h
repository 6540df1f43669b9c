// Keeps local sockets to this user alone.
#pragma once

#include <QString>

/// A folder with a short path that only this user can enter, made if need be; empty: there is none to be had.
QString privateSocketFolder();

/// Whether the other end of a connected local socket is a program of this user.
bool isOfThisUser(qintptr socket);
