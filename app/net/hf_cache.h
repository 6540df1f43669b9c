// Puts files where every program that uses the Hugging Face cache finds them.
#pragma once

#include "app/net/failure.h"
#include "app/net/quantisation.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace net {

/// Holds the two paths of one file of a repository: that of its bytes, named by their hash, and that of its name in a
/// revision, which is a link to the bytes.
struct CachePlace {
    std::filesystem::path blob;
    std::filesystem::path name;
};

CachePlace cache_place(const std::filesystem::path& cache, const std::string& repository, const std::string& commit,
                       const HubFile& file);

/// Holds what the cache has of a revision.
struct CachedRevision {
    std::filesystem::path folder;
    std::vector<HubFile> files;  // by their paths in it, without hashes
};

/// Finds what any program has fetched of a branch, a tag or a commit. Nothing: the cache has no such revision.
std::optional<CachedRevision> cached_revision(const std::filesystem::path& cache, const std::string& repository,
                                              const std::string& revision);

/// Says whether the name is no link, but a file of this size, as on systems without links.
bool has_its_bytes(const CachePlace& place, std::int64_t bytes);

/// Says whether the name leads to the blob or is a file of its own, and has this size. What the bytes are is not read.
bool is_named(const CachePlace& place, std::int64_t bytes);

/// Makes the name a link to the bytes. If the system permits no links, the file of the bytes is given the name.
Status name_in_cache(const CachePlace& place);

/// Writes the commit of a revision to refs/REVISION; does nothing if the revision is a commit itself.
Status keep_revision(const std::filesystem::path& cache, const std::string& repository, const std::string& revision,
                     const std::string& commit);

}  // namespace net
