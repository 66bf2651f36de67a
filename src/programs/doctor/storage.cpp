// The files, and their share in the page cache.

#include "io/file_system.hpp"
#include "io/local/descriptor.hpp"
#include "io/local/watch.hpp"
#include "programs/doctor/measure.hpp"
#include "programs/inputs/entry.hpp"

#include <filesystem>

namespace doctor {
namespace {

namespace fs = std::filesystem;
using feedline::detail::descriptor;

/// Upper limit of the files of a folder that are checked for their share in the page cache.
constexpr std::size_t max_examined = 256;

struct file_size {
  std::string path;
  std::uint64_t bytes = 0;
};

std::vector<file_size> files_in(const std::vector<std::string>& paths) {
  std::vector<file_size> files;
  std::error_code skipped;
  for (const std::string& path : paths) {
    if (programs::is_address(path)) {
      files.push_back({path, feedline::detail::file_system_of(path)->size_of(path)});
      continue;
    }
    if (!fs::is_directory(path, skipped)) files.push_back({path, fs::file_size(path, skipped)});
    for (fs::recursive_directory_iterator at{path, skipped}, end; !skipped && at != end;
         at.increment(skipped))
      if (at->is_regular_file(skipped))
        files.push_back({at->path().string(), at->file_size(skipped)});
  }
  std::erase_if(files, [](const file_size& each) { return each.bytes + 1 <= 1; });
  return files;
}

/// Share of the files that is in the page cache, estimated from the files checked.
void look_at_cache(const std::vector<file_size>& files, storage_facts& facts) {
  double cached = 0;
  double bytes = 0;
  const std::size_t stride = (files.size() + max_examined - 1) / max_examined;
  for (std::size_t i = 0; i < files.size(); i += stride) {
    if (programs::is_address(files[i].path)) return;
    const descriptor file{files[i].path.c_str(), O_NONBLOCK};
    if (file.number() < 0) continue;
    if (i == 0) facts.local = feedline::detail::is_on_local_file_system(file.number());
    const auto share = feedline::detail::resident_share(file.number(), files[i].bytes);
    if (!share) return;
    cached += *share * static_cast<double>(files[i].bytes);
    bytes += static_cast<double>(files[i].bytes);
  }
  if (bytes > 0) facts.cached = cached / bytes;
}

}  // namespace

storage_facts examine_storage(const std::vector<std::string>& paths) {
  storage_facts facts;
  const std::vector<file_size> files = files_in(paths);
  facts.files = files.size();
  for (const file_size& file : files) facts.bytes += file.bytes;
  if (!files.empty()) look_at_cache(files, facts);
  return facts;
}

}  // namespace doctor
