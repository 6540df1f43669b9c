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

/// The two places of one file of a repository: its bytes under their hash, and its name in a revision, which leads
/// there.
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

/// Finds what was fetched of a branch, a tag or a commit, whoever fetched it. Nothing: the cache does not know it.
std::optional<CachedRevision> cached_revision(const std::filesystem::path& cache, const std::string& repository,
                                              const std::string& revision);

/// The name is no link, but a file of this size.
bool has_its_bytes(const CachePlace& place, std::int64_t bytes);

/// Says whether the name leads to the blob or is a file of its own, and has this size. What the bytes are is not read.
bool is_named(const CachePlace& place, std::int64_t bytes);

/// The name leads to the bytes that are there. Where the system permits no links, the bytes get the name.
Status name_in_cache(const CachePlace& place);

/// refs/REVISION says which commit it was, where a revision is not a commit itself.
Status keep_revision(const std::filesystem::path& cache, const std::string& repository, const std::string& revision,
                     const std::string& commit);

}  // namespace net
