// Programs that this one starts.
#pragma once

class QProcess;

/// To be called before `process` is started: the child ends when this program does, also when this one is killed. On
/// Linux it ends with the thread that starts it, so that one has to outlive it.
void endWithThisProgram(QProcess& process);
