#include "engine/private_folder.h"

#include "engine/caught.h"
#include "engine/files/mapped_file.h"

#include <system_error>

namespace engine {

namespace fs = std::filesystem;

Status make_private_folder(const fs::path& folder)
try {
    std::error_code error;
    fs::create_directories(folder, error);
    if (!fs::is_directory(folder, error))
        return fail(Error::Code::CannotWrite, path_text(folder) + ": the folder cannot be made");
    fs::permissions(folder, fs::perms::owner_all, error);  // somebody else's stays as it is
    return {};
} catch (...) {
    return caught("for a folder");
}

}  // namespace engine
