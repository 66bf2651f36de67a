#include "programs/convert/work/work_folder.hpp"

#include <feedline/error.hpp>

#include "programs/convert/output/durable_file.hpp"

#include <spdlog/spdlog.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <sstream>

namespace convert {
namespace fs = std::filesystem;
using feedline::usage_error;
namespace {

constexpr auto first_line = "feedline-convert, an unfinished output, 2";
constexpr std::string_view last_line = "end\n";
constexpr std::string_view claim = "feedline-convert makes an output in this folder\n";

[[noreturn]] void refuse(const fs::path& path, const fs::path& found) {
  throw usage_error{
      path.string() + ": feedline-convert makes its output in a folder of that name, and " +
      found.string() + " was not made by it: move it away, or choose another --output"};
}

bool is_folder(const fs::path& path) {
  return fs::symlink_status(path).type() == fs::file_type::directory;
}

/// Whether it has the name of a folder or an object that the conversion to Zarr writes.
bool is_of_zarr_store(const fs::directory_entry& entry) {
  if (entry.is_symlink()) return false;
  if (entry.is_directory()) return true;
  const std::string name = entry.path().filename().string();
  const bool is_chunk = name.find_first_not_of("0123456789.") == std::string::npos;
  return entry.is_regular_file() && (is_chunk || name == "zarr.json" || name == ".zgroup" ||
                                     name == ".zarray" || name == ".zattrs");
}

/// Whether a path is below a folder.
bool is_below(const fs::path& folder, const fs::path& path) {
  return path.string().starts_with(folder.string() + '/');
}

bool has_mounts(const fs::path& folder) {
  const occupant parent = occupant_of(folder / "..");
  const auto is_elsewhere = [&](const fs::path& path) {
    const occupant found = occupant_of(path);
    return found && parent && found->first != parent->first;
  };
  return is_elsewhere(folder) ||
         std::ranges::any_of(fs::recursive_directory_iterator{folder}, is_elsewhere);
}

}  // namespace

occupant occupant_of(const fs::path& path) {
  struct stat found {};
  if (::lstat(path.c_str(), &found) != 0) return std::nullopt;
  return std::pair{found.st_dev, found.st_ino};
}

occupant check_output(const job& job) {
  const fs::path& output = job.output;
  const std::string name = output.string();
  if (!fs::is_directory(fs::absolute(output).parent_path()))
    throw usage_error{name + ": there is no folder " + output.parent_path().string() +
                      " to write it in"};
  const occupant found = occupant_of(output);
  if (!found) return found;
  if (!is_folder(output) && !fs::is_symlink(output) && !fs::is_regular_file(output))
    throw usage_error{name + ": is a device, a pipe or a socket, which no output can replace"};
  if (!job.force)
    throw usage_error{name + ": exists; choose another --output, or set --force to replace it" +
                      (is_folder(output) ? " and its contents" : "")};
  if (is_folder(output) && has_mounts(output))
    throw usage_error{name +
                      ": another file system is mounted on it or in it, so it cannot be "
                      "replaced: choose another --output"};
  return found;
}

void journal::write(const fs::path& path) const {
  std::string text = std::string{first_line} + '\n' + std::to_string(samples);
  for (const std::uint32_t sum : checksums) text += ' ' + std::to_string(sum);
  replace_file(path, text + '\n' + identity + std::string{last_line});
}

std::optional<journal> journal::read(const fs::path& path) {
  std::ifstream file{path};
  std::string line;
  if (!std::getline(file, line) || line != first_line || !std::getline(file, line)) return {};
  journal found{.identity = {std::istreambuf_iterator<char>{file}, {}}};
  std::istringstream numbers{line};
  if (!(numbers >> found.samples) || !found.identity.ends_with(last_line)) return {};
  for (std::uint32_t sum = 0; numbers >> sum;) found.checksums.push_back(sum);
  found.identity.resize(found.identity.size() - last_line.size());
  return found;
}

work_folder::work_folder(fs::path path) : path_{std::move(path)}, locked_{enter()} {
  require_only_own();
}

// The lock file goes last: a folder that has anything has a lock.
work_folder::~work_folder() {
  try {
    if (fs::exists(journal())) return;
    clear();
    fs::remove(lock());
    fs::remove(path_);
  } catch (const std::exception& error) {
    spdlog::warn("{}", error.what());
  }
}

void work_folder::clear() const {
  fs::remove(journal());
  fs::remove(journal().string() + ".new");
  fs::remove_all(unfinished());
}

void work_folder::put_in_place(const fs::path& output, const occupant& replaces) const {
  const fs::path made = unfinished();
  const fs::path replaced = path_ / "replaced";
  // A link never takes a name that is in use, and a folder only that of an empty folder.
  const bool is_linked = !is_folder(made) && ::link(made.c_str(), output.c_str()) == 0;
  const occupant found = is_linked ? std::nullopt : occupant_of(output);
  if (found && found != replaces)
    throw std::runtime_error{output.string() +
                             ": another program wrote it while the conversion ran, and it is left "
                             "unchanged; the complete output is in " +
                             made.string() + ": the same command with --force moves it there"};
  if (found && (is_folder(output) || is_folder(made))) fs::rename(output, replaced);
  if (!is_linked) fs::rename(made, output);
  sync_folder(fs::absolute(output).parent_path());
  clear();
  if (std::error_code error; fs::remove_all(replaced, error), error)
    throw std::runtime_error{output.string() +
                             ": is complete; what it replaced cannot be removed, and is " +
                             replaced.string() + " now: " + error.message()};
}

/// Begins again if another run removed the folder meanwhile.
feedline::detail::descriptor work_folder::enter() const {
  for (std::error_code gone;;) {
    if (::mkdir(path_.c_str(), 0777) != 0 && errno != EEXIST)
      fail(path_, "cannot be made; check its folder's permissions");
    const auto type = fs::symlink_status(path_, gone).type();
    if (type == fs::file_type::not_found) continue;
    // A run that was killed early leaves an empty folder.
    if (type != fs::file_type::directory ||
        (!fs::exists(lock(), gone) && !fs::is_empty(path_, gone) && !gone))
      refuse(path_, path_);
    feedline::detail::descriptor file{
        ::open(lock().c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666)};
    if (file.number() < 0 && errno == ENOENT) continue;
    if (file.number() < 0) fail(lock(), "cannot be opened");
    if (::flock(file.number(), LOCK_EX | LOCK_NB) != 0) {
      if (errno == EWOULDBLOCK)
        throw std::runtime_error{path_.string() +
                                 ": another feedline-convert is at work on this output"};
      spdlog::warn("{} cannot be locked ({}): let no other feedline-convert write this output",
                   path_.string(), feedline::detail::system_words());
    }
    struct stat locked {};
    if (::fstat(file.number(), &locked) == 0 && locked.st_nlink != 0) return file;
  }
}

void work_folder::require_only_own() const {
  std::ifstream file{lock()};
  const std::string text{std::istreambuf_iterator<char>{file}, {}};
  if (!claim.starts_with(text)) refuse(path_, lock());  // half of it: a run was killed just then
  const std::array own{lock(), journal(), fs::path{journal().string() + ".new"}, unfinished()};
  for (const auto& entry : fs::recursive_directory_iterator{path_}) {
    const bool is_array = entry.path().parent_path() == unfinished() &&
                          entry.path().extension() == ".npy" && entry.is_regular_file();
    if (is_below(unfinished(), entry.path()) && is_of_zarr_store(entry)) continue;
    if (!is_array && std::ranges::count(own, entry.path()) == 0) refuse(path_, entry.path());
  }
  if (::pwrite(locked_.number(), claim.data(), claim.size(), 0) !=
      static_cast<ssize_t>(claim.size()))
    fail(lock(), "cannot be written; is the disk full?");
}

}  // namespace convert
