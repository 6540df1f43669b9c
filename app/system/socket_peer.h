// Restricts local sockets to this user, and lets the program at the other end come to the front.
#pragma once

#include <QString>

/// Returns a folder with a short path that only this user can enter, and creates it if need be; empty: that failed.
QString privateSocketFolder();

/// Says whether the other end of a connected local socket is a program of this user.
bool isOfThisUser(qintptr socket);

/// Permits the program at the other end to raise its window; the system grants that right to this program, which the
/// user has just started. Does nothing where the system asks for no permission.
void letRaiseItsWindow(qintptr socket);
