# Cross-compiles for 64-bit Windows with mingw-w64 (posix threads, so that std::thread and std::stop_token work).
# The programs carry their run-time libraries inside. What the engine needs comes from make_deps.sh.
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(CMAKE_C_COMPILER x86_64-w64-mingw32-gcc-posix)
set(CMAKE_CXX_COMPILER x86_64-w64-mingw32-g++-posix)
set(CMAKE_RC_COMPILER x86_64-w64-mingw32-windres)

set(CMAKE_EXE_LINKER_FLAGS_INIT "-static")
set(CMAKE_C_FLAGS_INIT "-D_WIN32_WINNT=0x0A00") # Windows 10
set(CMAKE_CXX_FLAGS_INIT "-D_WIN32_WINNT=0x0A00")

# Nothing of the build machine is found by accident.
get_filename_component(SPILLWAY_MINGW_DEPS "${CMAKE_CURRENT_LIST_DIR}/../../build/mingw-deps/prefix" ABSOLUTE)
set(CMAKE_FIND_ROOT_PATH "${SPILLWAY_MINGW_DEPS}" /usr/x86_64-w64-mingw32)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
