#include "app/attachments/pdf_text/limits.h"

#include <sys/resource.h>

void limitThisProcess()
{
    const auto limit = [](auto what, rlim_t most) {
        const rlimit both{most, most};
        setrlimit(what, &both);
    };
    limit(RLIMIT_AS, rlim_t(2) << 30);
    limit(RLIMIT_CPU, 120);
    limit(RLIMIT_FSIZE, 0);
    limit(RLIMIT_CORE, 0);
}
