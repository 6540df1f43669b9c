# shellcheck shell=bash
# To be sourced. Source packages of the distribution, through a package index of our own: the machine's sources stay as
# they are, and are asked for source packages.

# source_package FOLDER NAME VERSION: unpacks NAME into FOLDER, in that version or else in one that the mirror still has.
# Where the mirror has lost the distribution's part of it, upstream's part will do.
source_package() {
    local folder=$1 name=$2 apt=$1/.apt version
    local options=(-qq -o "Dir::Etc::sourcelist=$apt/sources.list" -o "Dir::Etc::sourceparts=$apt/parts"
        -o "Dir::State::lists=$apt/lists" -o "Dir::Cache=$apt/cache" -o APT::Sandbox::User=root)
    [[ -d $apt/lists ]] || source_index "$apt" "${options[@]}"
    for version in "$3" $(apt-cache "${options[@]}" showsrc "$name" | sed -n 's/^Version: //p'); do
        (cd "$folder" && apt-get "${options[@]}" source "$name=$version") >"$folder/$name.log" 2>&1 && return
    done
    if (cd "$folder" && apt-get "${options[@]}" source --tar-only "$name=$3") >>"$folder/$name.log" 2>&1; then
        tar -x -C "$folder" -f "$folder/$name"_*.orig.tar.*
        return
    fi
    cat "$folder/$name.log" >&2
    echo "The source package of $name cannot be had." >&2
    return 1
}

source_index() { # FOLDER APT_OPTIONS...
    local apt=$1 file
    shift
    mkdir -p "$apt"/{parts,lists/partial,cache/archives/partial}
    cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list 2>/dev/null |
        sed -n 's/^deb /deb-src /p' >"$apt/sources.list" || true
    for file in /etc/apt/sources.list.d/*.sources; do
        [[ -f $file ]] && sed 's/^Types:.*/Types: deb-src/' "$file" >"$apt/parts/${file##*/}"
    done
    apt-get "$@" update || true # an index without sources is no reason to stop
}
