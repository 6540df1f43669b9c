// Finds the folders in which spillway-cli keeps files: the same folders as the window's (app/system/profile_folders.h),
// without Qt.
#pragma once

#include <filesystem>

namespace cli {

/// Empty where the environment names none.
std::filesystem::path data_folder();
std::filesystem::path home_folder();

}  // namespace cli
