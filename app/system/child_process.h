// endWithThisProgram() makes a program that this one starts end together with it.
#pragma once

class QProcess;

/// Call it before `process` is started: the child ends when this program ends, also when this one is killed. On Linux
/// the child ends with the thread that starts it, so that thread has to live longer.
void endWithThisProgram(QProcess& process);
