// --remote in a program that was built without libcurl: it says so.
#include "app/cli/remote.h"

namespace cli {

engine::Result<EngineElsewhere> engine_elsewhere(const RunOptions&)
{
    return engine::fail(engine::Error::Code::Unsupported,
                        "this spillway-cli was built without libcurl and asks no server");
}

}  // namespace cli
