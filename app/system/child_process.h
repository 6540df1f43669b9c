// endWithThisProgram() makes a program that this one starts end together with it; childsReason() finds why one failed.
#pragma once

#include <QByteArray>
#include <QString>

class QProcess;

/// Call it before `process` is started: the child ends when this program ends, also when this one is killed. On Linux
/// the child ends with the thread that starts it, so that thread has to live longer.
void endWithThisProgram(QProcess& process);

/// Returns the last error that spillway-cli printed, safe to show; empty: it printed none.
QString childsReason(const QByteArray& errors);
