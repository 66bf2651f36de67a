#include "programs/convert/work/output_place.hpp"

#include <feedline/error.hpp>

#include <fcntl.h>
#include <spdlog/fmt/fmt.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <string>

namespace convert {
namespace {

namespace fs = std::filesystem;

fs::path parent_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path{"."};
}

/// Whether all of a folder lies where its own folder does, so that it can be moved and removed.
bool is_of_one_file_system(const fs::path& folder) {
  const auto device = identity_behind(parent_of(folder))->device;
  if (identity_at(folder)->device != device) return false;
  for (const auto& entry : fs::recursive_directory_iterator{folder})
    if (const auto found = identity_at(entry.path()); found && found->device != device)
      return false;
  return true;
}

[[noreturn]] void leave(const work_folder& work, const fs::path& output) {
  throw std::runtime_error{fmt::format(
      "{}: was put there or replaced while the conversion ran, and is left as it is; what was "
      "converted is whole, in {}: the same command with --force puts it in place",
      output.string(), work.unfinished().string())};
}

/// Whether a call failed for want of the operation in the kernel or the file system.
bool is_unknown(int error) {
  return error == EINVAL || error == ENOSYS || error == ENOTSUP;
}

void rename_to_free(const work_folder& work, const fs::path& output, rename_call rename) {
  const fs::path made = work.unfinished();
  if (rename(made.c_str(), output.c_str(), RENAME_NOREPLACE) == 0) return;
  if (errno == EEXIST) leave(work, output);
  if (!is_unknown(errno)) fail(output, "the finished output cannot be renamed to it");
  if (identity_at(output)) leave(work, output);
  fs::rename(made, output);
}

/// In two renames, with the name free between them; or in one, of a file over a file.
void rename_over(const work_folder& work, const fs::path& output, const file_identity& replaces,
                 rename_call rename) {
  if (identity_at(output) != replaces) leave(work, output);
  if (!fs::is_directory(fs::symlink_status(output)) && !fs::is_directory(work.unfinished()))
    return fs::rename(work.unfinished(), output);
  fs::rename(output, work.replaced());
  try {
    rename_to_free(work, output, rename);
  } catch (...) {
    if (!identity_at(output)) fs::rename(work.replaced(), output);
    throw;
  }
}

void exchange(const work_folder& work, const fs::path& output, const file_identity& replaces,
              rename_call rename) {
  const fs::path made = work.unfinished();
  if (rename(made.c_str(), output.c_str(), RENAME_EXCHANGE) != 0) {
    if (errno == ENOENT) return rename_to_free(work, output, rename);
    if (!is_unknown(errno)) fail(output, "cannot be replaced by the finished output");
    return rename_over(work, output, replaces, rename);
  }
  if (identity_at(made) != replaces) {
    if (rename(made.c_str(), output.c_str(), RENAME_EXCHANGE) != 0)
      fail(made, "was " + output.string() + " a moment ago, and cannot be put back");
    leave(work, output);
  }
  fs::rename(made, work.replaced());
}

void remove_replaced(const work_folder& work, const fs::path& output) {
  try {
    fs::remove_all(work.replaced());
  } catch (const fs::filesystem_error& error) {
    throw std::runtime_error{fmt::format(
        "{}: is complete; what it took the place of cannot be removed, and is {} now: {}",
        output.string(), work.replaced().string(), error.code().message())};
  }
}

constexpr auto attribute = "user.feedline.convert";

/// What the mark of a file or folder says as it is now; nothing for anything else.
std::optional<std::string> mark_of(const fs::path& path) {
  struct stat found {};
  if (::lstat(path.c_str(), &found) != 0) return std::nullopt;
  const bool is_file = S_ISREG(found.st_mode);
  if (!is_file && !S_ISDIR(found.st_mode)) return std::nullopt;
  return fmt::format("1 {} {}.{}", is_file ? fmt::format("file {}", found.st_size) : "folder",
                     found.st_mtim.tv_sec, found.st_mtim.tv_nsec);
}

bool is_marked(const fs::path& path) {
  const auto wanted = mark_of(path);
  std::array<char, 128> found{};
  const auto size = ::lgetxattr(path.c_str(), attribute, found.data(), found.size());
  return wanted && size > 0 && std::string(found.data(), static_cast<std::size_t>(size)) == *wanted;
}

void mark(const fs::path& path) {
  const auto text = mark_of(path);
  if (!text) return;
  if (::lsetxattr(path.c_str(), attribute, text->data(), text->size(), 0) != 0) {
    if (errno == ENOTSUP) return;
    fail(path, "cannot be marked as written by feedline-convert");
  }
  if (fs::is_directory(path)) {
    sync_folder(path);
  } else {
    durable_file{path, durable_file::mode::open}.sync();
  }
}

}  // namespace

void mark_as_own(const fs::path& path) {
  if (fs::is_directory(path))
    for (const auto& entry : fs::directory_iterator{path}) mark(entry.path());
  mark(path);
}

bool is_marked_as_own(const fs::path& path) {
  if (!is_marked(path)) return false;
  if (!fs::is_directory(path)) return true;
  for (const auto& entry : fs::directory_iterator{path})
    if (entry.symlink_status().type() != fs::file_type::regular || !is_marked(entry.path()))
      return false;
  return true;
}

fs::path output_path(const fs::path& given) {
  std::string text = given.string();
  while (text.size() > 1 && text.back() == '/') text.pop_back();
  fs::path path{text};
  const std::string name = path.filename().string();
  if (name.empty() || name == "." || name == "..")
    throw feedline::usage_error{fmt::format(
        "--output '{}': is a folder's place, not a name in one; say what to write, as in {}",
        given.string(), (path / "train.h5").string())};
  return path;
}

std::optional<file_identity> check_output(const job& job) {
  const fs::path& output = job.output;
  if (!fs::is_directory(parent_of(output)))
    throw feedline::usage_error{output.string() + ": there is no folder " +
                                parent_of(output).string() + " to write it in"};
  const auto found = identity_at(output);
  if (!found) return std::nullopt;
  const fs::file_type type = fs::symlink_status(output).type();
  const bool is_folder = type == fs::file_type::directory;
  if (!is_folder && type != fs::file_type::regular && type != fs::file_type::symlink)
    throw feedline::usage_error{output.string() +
                                ": is a device, a pipe or a socket, which no output can replace"};
  if (is_folder && !is_of_one_file_system(output))
    throw feedline::usage_error{output.string() +
                                ": another file system is mounted on it or in it, so it cannot be "
                                "replaced: choose another --output"};
  if (job.force || is_marked_as_own(output)) return found;
  throw feedline::usage_error{
      fmt::format("{}: exists, and bears no mark that feedline-convert wrote it and nobody changed "
                  "it since; choose another --output, or let --force replace it{}",
                  output.string(), is_folder ? " with all that is in it" : "")};
}

int rename_by_kernel(const char* from, const char* to, unsigned flags) {
  return ::renameat2(AT_FDCWD, from, AT_FDCWD, to, flags);
}

void put_in_place(const work_folder& work, const fs::path& output,
                  const std::optional<file_identity>& replaces, rename_call rename) {
  if (replaces) {
    exchange(work, output, *replaces, rename);
  } else {
    rename_to_free(work, output, rename);
  }
  sync_folder(parent_of(output));
  remove_replaced(work, output);
}

}  // namespace convert
