// Keeps local sockets to this user alone, and lets the program at the other end come to the front.
#pragma once

#include <QString>

/// A folder with a short path that only this user can enter, made if need be; empty: there is none to be had.
QString privateSocketFolder();

/// Says whether the other end of a connected local socket is a program of this user.
bool isOfThisUser(qintptr socket);

/// Lets the program at the other end raise its window: it was asked to by this one, which the user has just started.
/// Where the system asks for no such leave, nothing is done.
void letRaiseItsWindow(qintptr socket);
