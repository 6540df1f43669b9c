#!/bin/sh
# refresh-desktop.sh FOLDER: tells the desktop, where there is one, that entries and types in FOLDER have changed. Where
# the last entry or type is gone, the desktop's cache of them is removed.
applications=$1/applications mime=$1/mime
has() { command -v "$1" >/dev/null; }

if ls "$applications"/*.desktop >/dev/null 2>&1; then
    ! has update-desktop-database || update-desktop-database -q "$applications"
elif [ -e "$applications/mimeinfo.cache" ]; then
    rm "$applications/mimeinfo.cache"
    rmdir "$applications" 2>/dev/null
fi
if [ -d "$mime/packages" ]; then
    ! has update-mime-database || update-mime-database "$mime"
elif [ -e "$mime/mime.cache" ]; then
    rm -r "$mime"
fi
exit 0
