// Built where libcurl and Expat are.

#include <feedline/remote/mount.hpp>

#include "python/bindings.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

#include <nanobind/stl/chrono.h>
#include <nanobind/stl/string.h>

namespace feedline::python {

void bind_remote(nb::module_& module) {
  using milliseconds = std::chrono::milliseconds;
  const remote_options usual;
  module.def(
      "mount_remote_files",
      [](milliseconds deadline, milliseconds stall_after, int max_in_flight,
         std::uint64_t read_ahead_bytes, int threads, std::string s3_endpoint, std::string s3_region,
         bool s3_anonymous) {
        mount_remote_files({.deadline = deadline,
                            .stall_after = stall_after,
                            .max_in_flight = max_in_flight,
                            .read_ahead_bytes = read_ahead_bytes,
                            .threads = threads,
                            .s3_endpoint = std::move(s3_endpoint),
                            .s3_region = std::move(s3_region),
                            .s3_anonymous = s3_anonymous});
      },
      nb::kw_only(), "deadline"_a = usual.deadline, "stall_after"_a = usual.stall_after,
      "max_in_flight"_a = usual.max_in_flight, "read_ahead_bytes"_a = usual.read_ahead_bytes,
      "threads"_a = usual.threads,
      "s3_endpoint"_a = usual.s3_endpoint, "s3_region"_a = usual.s3_region,
      "s3_anonymous"_a = usual.s3_anonymous,
      "How files of 'http://', 'https://' and 's3://' are read, from now on and by this process: "
      "others, such as those that are spawned, call it themselves. Without a call the defaults "
      "count. Times are timedeltas, or seconds with a point (30.0); docs/guide/remote.md explains "
      "the options.");
}

}  // namespace feedline::python
