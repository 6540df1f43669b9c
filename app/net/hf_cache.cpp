#include "app/net/hf_cache.h"

#include "engine/utf8_path.h"

#include <algorithm>
#include <fstream>
#include <system_error>

namespace net {

namespace {

namespace fs = std::filesystem;

/// Returns the folder of a repository, CACHE/models--ORG--NAME.
fs::path folder_of(const fs::path& cache, const std::string& repository)
{
    std::string name = "models--" + repository;
    if (const std::size_t slash = name.find('/'); slash != std::string::npos)
        name.replace(slash, 1, "--");
    return cache / engine::utf8_path(name);
}

tl::unexpected<Failure> cannot_write(const fs::path& path)
{
    return fail(Failure::Kind::CannotWrite, '\'' + engine::utf8_text(path) + "' cannot be written");
}

/// Returns the commit that a branch or a tag stood for when it was fetched last; else `revision`, which may be a
/// commit.
std::string known_commit(const fs::path& repository, const std::string& revision)
{
    constexpr std::size_t kCommit = 40;  // characters
    std::ifstream in(repository / "refs" / engine::utf8_path(revision), std::ios::binary);
    std::string commit(kCommit, '\0');
    in.read(commit.data(), std::streamsize(kCommit));
    return std::size_t(in.gcount()) == kCommit ? commit : revision;
}

}  // namespace

CachePlace cache_place(const fs::path& cache, const std::string& repository, const std::string& commit,
                       const HubFile& file)
{
    const fs::path folder = folder_of(cache, repository);
    return {folder / "blobs" / (file.sha256.empty() ? file.oid : file.sha256),
            folder / "snapshots" / commit / engine::utf8_path(file.path)};
}

std::optional<CachedRevision> cached_revision(const fs::path& cache, const std::string& repository,
                                              const std::string& revision)
{
    const fs::path folder = folder_of(cache, repository);
    const std::string commit = known_commit(folder, revision);
    if (cache.empty() || commit.empty() || commit.find_first_not_of("0123456789abcdef") != std::string::npos)
        return {};
    CachedRevision found{folder / "snapshots" / commit, {}};
    std::error_code error, of_file;
    for (fs::recursive_directory_iterator at(found.folder, error), end; !error && at != end; at.increment(error))
        if (at->is_regular_file(of_file))  // also a link to one
            found.files.push_back({engine::utf8_text(at->path().lexically_relative(found.folder)),
                                   std::int64_t(at->file_size(of_file)),
                                   {},
                                   {}});
    return found;
}

bool has_its_bytes(const CachePlace& place, std::int64_t bytes)
{
    std::error_code error;
    return fs::symlink_status(place.name, error).type() == fs::file_type::regular &&
           fs::file_size(place.name, error) == std::uintmax_t(bytes) && !error;
}

bool is_named(const CachePlace& place, std::int64_t bytes)
{
    std::error_code error;
    if (!fs::equivalent(place.name, place.blob, error))
        return has_its_bytes(place, bytes);
    return fs::file_size(place.blob, error) == std::uintmax_t(bytes) && !error;
}

Status name_in_cache(const CachePlace& place)
{
    std::error_code error;
    fs::create_directories(place.name.parent_path(), error);
    if (fs::equivalent(place.name, place.blob, error))
        return {};
    if (fs::is_symlink(place.name, error))  // a link to a file that is gone
        fs::remove(place.name, error);
    if (fs::exists(place.name, error))
        return {};
    // The link is relative, so that the cache can be moved as a whole.
    fs::create_symlink(place.blob.lexically_relative(place.name.parent_path()), place.name, error);
    if (error)
        fs::rename(place.blob, place.name, error);
    if (error)
        return cannot_write(place.name);
    return {};
}

Status keep_revision(const fs::path& cache, const std::string& repository, const std::string& revision,
                     const std::string& commit)
{
    const fs::path folder = folder_of(cache, repository);
    if (known_commit(folder, revision) == commit)  // not written again: the cache may be read-only here
        return {};
    const fs::path file = folder / "refs" / engine::utf8_path(revision);
    std::error_code error;
    fs::create_directories(file.parent_path(), error);
    std::ofstream out(file, std::ios::binary | std::ios::trunc);
    out << commit;
    out.close();
    if (!out)
        return cannot_write(file);
    return {};
}

}  // namespace net
