#pragma once

#include <feedline/export.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Writes a manifest of objects of other machines: their addresses, sizes and versions. Each is
/// opened by one request, many at once, so this takes a while; blocks until the file is written.
/// Target `feedline::formats`.
///
/// The file is JSON lines, one object a line, sorted by address, with these members and no others:
///
///     {"path": "s3://bucket/a.tar", "size": 1048576, "etag": "\"5f36\"", "last_modified": ""}
///
/// `path` is an address, `size` is in bytes. `etag` and `last_modified` are the headers of these
/// names as the server sends them, with the quotes of an ETag; empty, or left out: not known.
/// Programs that know their objects' sizes and ETags may write such a file themselves.
/// @param file Path of this machine; a file that is there is replaced once the new one is whole. It
/// is written under another name beside it, so several programs may write the same file at once: it
/// is the whole of one of them.
/// @param patterns Addresses, with `*` and ranges as for `open`.
/// @return The number of objects.
/// @throws usage_error if there is no pattern, or one names a file of this machine; dataset_error
/// if an object cannot be opened; std::runtime_error if the file cannot be written.
std::uint64_t write_manifest(const std::string& file, const std::vector<std::string>& patterns);

/// From now on the objects of a manifest need no request to be found, listed or opened, also on web
/// servers, which have no lists: patterns are matched by the manifest, and folders in it have the
/// objects in it alone. Reads are pinned to the versions in it: an object that has changed ends a
/// read with an error. Mounts addresses with the default options, unless that is done. Several
/// manifests add up, also those that threads mount at once; a later one counts for an address in
/// both.
/// @throws dataset_error if it cannot be read, naming the line.
void mount_manifest(const std::string& file);

}  // namespace FEEDLINE_ABI
}  // namespace feedline
