#include "app/system/child_process.h"

#include <QObject>
#include <QProcess>

#include <windows.h>

namespace {

/// Returns the job in which children run. Only this program holds its handle and never closes it: the system closes it
/// when the program ends, in whatever way, and then ends the processes in the job.
HANDLE jobOfChildren()
{
    static const HANDLE job = [] {
        const HANDLE made = CreateJobObjectW(nullptr, nullptr);
        JOBOBJECT_EXTENDED_LIMIT_INFORMATION limits{};
        limits.BasicLimitInformation.LimitFlags = JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE;
        if (made)
            SetInformationJobObject(made, JobObjectExtendedLimitInformation, &limits, sizeof limits);
        return made;
    }();
    return job;
}

void takeIn(qint64 child)
{
    const HANDLE process = OpenProcess(PROCESS_SET_QUOTA | PROCESS_TERMINATE, FALSE, DWORD(child));
    if (!process)
        return;
    if (jobOfChildren())
        AssignProcessToJobObject(jobOfChildren(), process);
    CloseHandle(process);
}

}  // namespace

void endWithThisProgram(QProcess& process)
{
    QObject::connect(&process, &QProcess::started, &process, [&process] { takeIn(process.processId()); });
}
