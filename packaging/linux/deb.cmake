# The package for Debian and Ubuntu: `./dev package linux` makes it, with CPack.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME spillway)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT "The Spillway developers <developers@spillway.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "talk to a language model on this computer, and see where its memory lives")
set(CPACK_PACKAGE_DESCRIPTION
    "Spillway runs GGUF models on its own engine: on the processor, on an NVIDIA
GPU, or on both. When a conversation outgrows the memory of the graphics
card it goes on, exactly: the oldest part of what the model remembers moves
to RAM. Charts show every byte of it, and handles steer it while the model
talks. A small model comes with it, so that it answers at once and without a
network. An NVIDIA GPU needs compute capability 7.5 or higher and the driver
580 or newer.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# Packages of files that are opened by name while the program runs: looking at what the programs link does not find
# them.
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libqt6sql6-sqlite, qt6-qpa-plugins, qt6-svg-plugins | libqt6svg6, \
qt6-translations-l10n, qml6-module-qtcore, qml6-module-qtqml, qml6-module-qtqml-models, \
qml6-module-qtqml-workerscript, qml6-module-qtquick, qml6-module-qtquick-controls, qml6-module-qtquick-dialogs, \
qml6-module-qtquick-layouts, qml6-module-qtquick-templates, qml6-module-qtquick-window, \
qml6-module-qt-labs-folderlistmodel")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "fonts-dejavu-core, libsecret-1-0, qt6-wayland") # libsecret: opened where it is

# What Debian asks of every package: whose it is, and what has changed.
set(doc ${CMAKE_INSTALL_DATADIR}/doc/spillway)
install(FILES copyright DESTINATION ${doc})
configure_file(changelog.in changelog @ONLY)
install_compressed(${CMAKE_CURRENT_BINARY_DIR}/changelog ${doc}/changelog.gz)
install_compressed(${PROJECT_SOURCE_DIR}/CHANGELOG.md ${doc}/NEWS.gz)
include(CPack)
