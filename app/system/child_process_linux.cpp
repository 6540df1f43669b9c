#include "app/system/child_process.h"

#include <QProcess>

#include <csignal>
#include <sys/prctl.h>
#include <unistd.h>

void endWithThisProgram(QProcess& process)
{
    process.setChildProcessModifier([parent = getpid()] {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent)  // the parent ended before its end would have been reported
            _exit(1);
    });
}
