#include "programs/convert/input_guard.hpp"

#include <feedline/error.hpp>

#include "programs/convert/work/file_identity.hpp"

#include <string>
#include <vector>

namespace convert {
namespace {

namespace fs = std::filesystem;

/// Whether a folder is one of those above a path that has no links, or that path itself.
bool is_at_or_above(const file_identity& folder, fs::path path) {
  for (;; path = path.parent_path()) {
    if (identity_behind(path) == folder) return true;
    if (path == path.root_path()) return false;
  }
}

fs::path folder_of(const fs::path& path) {
  return fs::canonical(fs::absolute(path).parent_path());
}

[[noreturn]] void refuse(const fs::path& output, const std::string& relation,
                         const fs::path& input) {
  throw feedline::usage_error{output.string() + ": " + relation + " the input " + input.string() +
                              ", which --force would not save: choose another --output"};
}

void require_apart(const fs::path& output, const fs::path& input) {
  const auto read = identity_behind(input);
  if (!read || !fs::exists(fs::absolute(output).parent_path())) return;  // others refuse that
  if (const auto written = identity_behind(output)) {
    if (*written == *read) refuse(output, "is", input);
    if (is_at_or_above(*written, fs::canonical(input)) ||
        is_at_or_above(*written, folder_of(input)))
      refuse(output, "contains", input);
  }
  if (is_at_or_above(*read, folder_of(output))) refuse(output, "lies inside", input);
}

/// An input, and what links within it lead to.
std::vector<fs::path> reached_from(const fs::path& input) {
  std::vector<fs::path> reached{input};
  if (!fs::is_directory(input)) return reached;
  for (const auto& entry : fs::recursive_directory_iterator{input})
    if (entry.is_symlink()) reached.push_back(entry.path());
  return reached;
}

}  // namespace

void require_apart_from_inputs(const job& job) {
  for (const fs::path& given : job.inputs)
    for (const fs::path& input : reached_from(given)) {
      require_apart(job.output, input);
      require_apart(job.work(), input);
    }
}

}  // namespace convert
