#include <feedline/error.hpp>
#include <feedline/formats/expand_paths.hpp>
#include <feedline/remote/manifest.hpp>

#include "detail/threads.hpp"
#include "formats/replace_file.hpp"
#include "io/file_system.hpp"
#include "remote/manifest.hpp"
#include "remote/mount_once.hpp"
#include "remote/object_file.hpp"

#include <memory>
#include <ostream>
#include <string>

namespace feedline::detail {
namespace {

void append_files(const std::string& path, std::vector<std::string>& into) {
  if (kind_of_entry(path) != entry_kind::folder) {
    into.push_back(path);
    return;
  }
  const std::string folder = path + (path.ends_with('/') ? "" : "/");
  for (const folder_entry& each : file_system_of(path)->list(folder))
    append_files(folder + each.name, into);
}

}  // namespace
}  // namespace feedline::detail

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

std::uint64_t write_manifest(const std::string& file, const std::vector<std::string>& patterns) {
  if (patterns.empty()) throw usage_error{"write_manifest: there is no address"};
  for (const std::string& each : patterns)
    if (each.find("://") == std::string::npos)
      throw usage_error{"write_manifest: '" + each + "' is no address such as s3://BUCKET/KEY"};
  detail::mount_remote_files_once();
  std::vector<std::string> addresses;
  for (const std::string& each : expand_paths(patterns)) detail::append_files(each, addresses);
  std::vector<detail::object_pin> pins(addresses.size());
  detail::parallel_for(
      addresses.size(),
      [&](std::size_t i) {
        const auto opened =
            std::dynamic_pointer_cast<const detail::object_file>(detail::open_file(addresses[i]));
        if (!opened)
          throw usage_error{"write_manifest: '" + addresses[i] + "' is no object of a server"};
        pins[i] = opened->pin();
      },
      detail::files_opened_at_once);
  detail::manifest::entries all;
  for (std::size_t i = 0; i < pins.size(); ++i) all.insert_or_assign(addresses[i], pins[i]);
  detail::replace_file(file, [&](std::ostream& out) {
    for (const auto& [address, pin] : all) out << detail::manifest_line(address, pin);
  });
  return all.size();
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
