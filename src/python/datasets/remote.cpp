// Built where libcurl and pugixml are.

#include <feedline/remote/manifest.hpp>
#include <feedline/remote/mount.hpp>
#include <feedline/remote/statistics.hpp>

#include "python/bindings.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/stl/chrono.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace feedline::python {

void bind_remote(nb::module_& module) {
  using milliseconds = std::chrono::milliseconds;
  const remote_options usual;
  module.def(
      "mount_remote_files",
      [](milliseconds deadline, milliseconds stall_after, int max_in_flight,
         std::uint64_t read_ahead_bytes, int threads, bool second_requests, bool direct_connections,
         std::string s3_endpoint, std::string s3_region, bool s3_anonymous,
         std::string cache_folder, std::uint64_t cache_folder_bytes,
         std::uint64_t cache_memory_bytes, std::uint64_t cache_block_bytes) {
        mount_remote_files({.deadline = deadline,
                            .stall_after = stall_after,
                            .max_in_flight = max_in_flight,
                            .read_ahead_bytes = read_ahead_bytes,
                            .threads = threads,
                            .second_requests = second_requests,
                            .direct_connections = direct_connections,
                            .s3_endpoint = std::move(s3_endpoint),
                            .s3_region = std::move(s3_region),
                            .s3_anonymous = s3_anonymous,
                            .cache = {.folder = std::move(cache_folder),
                                      .folder_bytes = cache_folder_bytes,
                                      .memory_bytes = cache_memory_bytes,
                                      .block_bytes = cache_block_bytes}});
      },
      nb::kw_only(), "deadline"_a = usual.deadline, "stall_after"_a = usual.stall_after,
      "max_in_flight"_a = usual.max_in_flight, "read_ahead_bytes"_a = usual.read_ahead_bytes,
      "threads"_a = usual.threads, "second_requests"_a = usual.second_requests,
      "direct_connections"_a = usual.direct_connections, "s3_endpoint"_a = usual.s3_endpoint,
      "s3_region"_a = usual.s3_region, "s3_anonymous"_a = usual.s3_anonymous,
      "cache_folder"_a = usual.cache.folder, "cache_folder_bytes"_a = usual.cache.folder_bytes,
      "cache_memory_bytes"_a = usual.cache.memory_bytes,
      "cache_block_bytes"_a = usual.cache.block_bytes,
      "How files of 'http://', 'https://' and 's3://' are read, from now on and by this process: "
      "others, such as those that are spawned, call it themselves. Without a call the defaults "
      "count. Times are timedeltas, or seconds with a point (30.0); docs/guide/remote.md explains "
      "the options, and those that begin with 'cache_'.");
  nb::class_<remote_cache_statistics> cached{module, "RemoteCacheStatistics",
                                             "What this process's cache of objects did so far."};
  cached.def_ro("reads", &remote_cache_statistics::reads, "Reads of blocks that were there.")
      .def_ro("memory_bytes", &remote_cache_statistics::memory_bytes, "Bytes from memory.")
      .def_ro("folder_bytes", &remote_cache_statistics::folder_bytes, "Bytes from the folder.")
      .def_ro("stored", &remote_cache_statistics::stored, "Blocks that were fetched and kept.")
      .def_ro("stored_bytes", &remote_cache_statistics::stored_bytes, "Bytes of these blocks.")
      .def_ro("evicted", &remote_cache_statistics::evicted, "Blocks that were removed for others.")
      .def_ro("damaged", &remote_cache_statistics::damaged, "Damaged blocks of the folder.")
      .def_ro("not_written", &remote_cache_statistics::not_written,
              "Blocks that could not be written.")
      .def_ro("waits", &remote_cache_statistics::waits,
              "Reads that waited for another process or reader.");
  nb::class_<remote_statistics> counts{module, "RemoteStatistics",
                                       "Requests of this process to other machines so far."};
  counts.def_ro("requests", &remote_statistics::requests, "Requests that were sent, tries counted.")
      .def_ro("bytes", &remote_statistics::bytes, "Bytes of objects that came.")
      .def_ro("bytes_unused", &remote_statistics::bytes_unused, "Fetched ahead and dropped unread.")
      .def_ro("most_in_flight", &remote_statistics::most_in_flight, "The most requests at once.")
      .def_ro("held_back", &remote_statistics::held_back,
              "Answers that came while more requests in flight would have raised the rate, but\n"
              "max_in_flight or the limit of open files did not allow them.")
      .def_ro("throttled", &remote_statistics::throttled, "Status 429 or 503.")
      .def_ro("server_errors", &remote_statistics::server_errors, "Status 408, 500, 502 or 504.")
      .def_ro("unreachable", &remote_statistics::unreachable, "No address, no connection, no TLS.")
      .def_ro("resets", &remote_statistics::resets, "Connections that broke within an answer.")
      .def_ro("stalls", &remote_statistics::stalls, "No byte for stall_after, or too slow.")
      .def_ro("wrong_lengths", &remote_statistics::wrong_lengths,
              "Bodies shorter or longer than said.")
      .def_ro("ignored_ranges", &remote_statistics::ignored_ranges, "Status 200 for a range.")
      .def_ro("garbage", &remote_statistics::garbage, "Answers that make no sense.")
      .def_ro("wrong_checksums", &remote_statistics::wrong_checksums,
              "Whole objects whose bytes do not have the checksum that the store tells.")
      .def_ro("failed", &remote_statistics::failed, "Requests that were given up.")
      .def_ro("retries", &remote_statistics::retries, "Requests that were made again.")
      .def_ro("hedged", &remote_statistics::hedged, "Second requests beside those that lagged.")
      .def_ro("hedges_won", &remote_statistics::hedges_won, "Second requests answered first.")
      .def_ro("waits", &remote_statistics::waits, "How often readers waited for bytes.")
      .def_ro("wait_time", &remote_statistics::wait_time, "Sum of these waits over all readers.")
      .def_ro("cache", &remote_statistics::cache, "What the cache of objects did.")
      .def("__str__", [](const remote_statistics& self) { return to_string(self); });
  module.def("remote_counts", &remote_counts,
             "Requests of this process to other machines so far, by kind.");
  module.def(
      "write_manifest",
      [](const std::string& file, const std::vector<std::string>& patterns) {
        const nb::gil_scoped_release released;
        return write_manifest(file, patterns);
      },
      "file"_a, "patterns"_a,
      "Writes a manifest (JSON lines) of the addresses, sizes and versions of objects; returns "
      "their number.");
  module.def(
      "mount_manifest",
      [](const std::string& file) {
        const nb::gil_scoped_release released;
        mount_manifest(file);
      },
      "file"_a,
      "From now on the objects of a manifest need no request to be found, listed or opened, and "
      "are "
      "pinned to the versions in it.");
}

}  // namespace feedline::python
