# Qt for Windows and what is linked with it: DLLs, which share the compiler's run-time libraries. Qt comes from
# build_qt.sh, the rest from make_window_deps.sh.
include("${CMAKE_CURRENT_LIST_DIR}/mingw-w64.cmake")
set(CMAKE_EXE_LINKER_FLAGS_INIT "")

get_filename_component(spillway_build "${CMAKE_CURRENT_LIST_DIR}/../../build" ABSOLUTE)
list(PREPEND CMAKE_FIND_ROOT_PATH "${spillway_build}/qt-windows" "${spillway_build}/window-deps/prefix")
set(QT_HOST_PATH /usr)
set(QT_HOST_PATH_CMAKE_DIR /usr/lib/x86_64-linux-gnu/cmake)
