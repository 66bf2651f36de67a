#include "programs/convert/work/work_folder.hpp"

#include <feedline/error.hpp>

#include "programs/convert/work/durable_file.hpp"

#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <system_error>

#include <algorithm>
#include <array>
#include <fstream>
#include <sstream>
#include <string_view>

namespace convert {
namespace {

namespace fs = std::filesystem;
using feedline::detail::descriptor;

constexpr auto first_line = "feedline-convert, an unfinished output, 1";
constexpr std::string_view claim_text = "feedline-convert makes an output in this folder\n";

[[noreturn]] void refuse(const fs::path& path, const fs::path& found) {
  throw feedline::usage_error{
      path.string() + ": feedline-convert makes its output in a folder of that name, and " +
      found.string() + " is not of its making: move it away, or choose another --output"};
}

bool is_folder(const fs::path& path) {
  return fs::symlink_status(path).type() == fs::file_type::directory;
}

}  // namespace

std::string to_hex(std::uint32_t value) {
  return fmt::format("{:#010x}", value);
}

void journal::write(const std::filesystem::path& path) const {
  std::string text = std::string{first_line} + '\n' + identity;
  text += "samples " + std::to_string(samples) + "\nchecksums";
  for (const std::uint32_t value : checksums) text += ' ' + to_hex(value);
  replace_file(path, text + "\nend\n");
}

std::optional<journal> journal::read(const std::filesystem::path& path) {
  std::ifstream file{path};
  std::string line;
  if (!std::getline(file, line) || line != first_line) return std::nullopt;
  journal found;
  while (std::getline(file, line) && !line.starts_with("samples ")) found.identity += line + '\n';
  std::istringstream counted{line};
  std::string word;
  if (!(counted >> word >> found.samples)) return std::nullopt;
  if (!std::getline(file, line) || !line.starts_with("checksums")) return std::nullopt;
  std::istringstream values{line.substr(9)};
  for (std::uint32_t value = 0; values >> std::hex >> value;) found.checksums.push_back(value);
  if (!std::getline(file, line) || line != "end") return std::nullopt;
  return found;
}

work_folder::work_folder(fs::path path) : path_{std::move(path)}, locked_{enter()} {
  claim();
  require_only_own();
}

work_folder::~work_folder() {
  try {
    if (!removed_ && !fs::exists(journal())) remove();
  } catch (const std::exception& error) {
    spdlog::warn("{}", error.what());
  }
}

void work_folder::clear() const {
  fs::remove(journal());
  fs::remove(journal().string() + ".new");
  fs::remove_all(unfinished());
}

// The lock's file last: a folder that has anything has a lock.
void work_folder::remove() {
  removed_ = true;
  clear();
  fs::remove(lock());
  fs::remove(path_);
}

/// Begins again where another run removed the folder meanwhile.
descriptor work_folder::enter() const {
  for (;;) {
    if (::mkdir(path_.c_str(), 0777) != 0) {
      if (errno != EEXIST) fail(path_, "cannot be made; check its folder's permissions");
      if (!identity_at(path_)) continue;
      if (!is_folder(path_) || is_foreign()) refuse(path_, path_);
    }
    descriptor file{::open(lock().c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666)};
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
    if (::fstat(file.number(), &locked) == 0 &&
        identity_at(lock()) == file_identity{locked.st_dev, locked.st_ino})
      return file;
  }
}

/// Whether it has anything but no lock. An empty one was left by a run that was killed early.
bool work_folder::is_foreign() const {
  bool is_empty = true;
  std::error_code gone;  // a run that ends removes it
  for (fs::directory_iterator at{path_, gone}, end; !gone && at != end; at.increment(gone)) {
    if (at->path() == lock()) return false;
    is_empty = false;
  }
  return !is_empty;
}

/// Says in the lock's file whose it is. Part of that was left by a run that was killed just then.
void work_folder::claim() const {
  std::array<char, 128> found{};
  const auto size = ::pread(locked_.number(), found.data(), found.size(), 0);
  if (size < 0) fail(lock(), "cannot be read");
  const std::string_view text(found.data(), static_cast<std::size_t>(size < 0 ? 0 : size));
  if (!claim_text.starts_with(text)) refuse(path_, lock());
  if (text != claim_text && ::pwrite(locked_.number(), claim_text.data(), claim_text.size(), 0) !=
                                static_cast<ssize_t>(claim_text.size()))
    fail(lock(), "cannot be written; is the disk full?");
}

void work_folder::require_only_own() const {
  const std::vector<fs::path> own{lock(), journal(), journal().string() + ".new", unfinished()};
  for (const auto& entry : fs::directory_iterator{path_})
    if (std::find(own.begin(), own.end(), entry.path()) == own.end()) refuse(path_, entry.path());
  if (!is_folder(unfinished())) return;
  for (const auto& entry : fs::directory_iterator{unfinished()})
    if (!entry.is_regular_file() || entry.path().extension() != ".npy") refuse(path_, entry.path());
}

}  // namespace convert
