#include "checkpoint.hpp"

#include <feedline/error.hpp>

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <sstream>
#include <stdexcept>

namespace mnist {
namespace {

namespace fs = std::filesystem;
using feedline::usage_error;

constexpr const char* first_line = "feedline mnist_trainer checkpoint 2";

std::string text_of(const std::vector<std::size_t>& sizes) {
  std::string text;
  for (const std::size_t size : sizes) text += (text.empty() ? "" : " ") + std::to_string(size);
  return text;
}

[[noreturn]] void fail(const std::string& path) {
  throw std::runtime_error{path + ": " + std::strerror(errno)};
}

}  // namespace

void write_checkpoint(const fs::path& path, const checkpoint& made) {
  char so_far[128];
  std::snprintf(so_far, sizeof so_far, "%a %a", made.so_far.loss, made.so_far.digits);
  const std::string head = std::string{first_line} + "\n" + to_json(made.place) + "\n" + so_far +
                           "\n" + text_of(made.sizes) + "\n";
  const std::string next = path.string() + ".new";
  std::FILE* const file = std::fopen(next.c_str(), "wb");
  if (file == nullptr) fail(next);
  bool good = std::fwrite(head.data(), 1, head.size(), file) == head.size();
  good = good && std::fwrite(made.values.data(), sizeof(float), made.values.size(), file) ==
                     made.values.size();
  good = good && std::fflush(file) == 0 && ::fsync(::fileno(file)) == 0;
  const int error = errno;
  std::fclose(file);
  errno = error;
  if (!good) fail(next);
  if (std::rename(next.c_str(), path.c_str()) != 0) fail(path);
}

void require_place_for_checkpoint(const fs::path& path) {
  const auto refuse = [&](const std::string& why) {
    throw usage_error{"--checkpoint " + path.string() + ": " + why +
                      "; make the folder, or name a file in one that can be written"};
  };
  if (path.empty()) return;
  if (fs::is_directory(path)) refuse("that is a folder, not a file");
  const std::string next = path.string() + ".new";
  std::FILE* const file = std::fopen(next.c_str(), "ab");
  if (file == nullptr) refuse(next + " cannot be made: " + std::strerror(errno));
  std::fclose(file);
  std::remove(next.c_str());
}

checkpoint read_checkpoint(const fs::path& path, const std::vector<std::size_t>& sizes) {
  const std::string name = path.string();
  std::ifstream file{path, std::ios::binary};
  if (!file) fail(name);
  std::string line;
  std::getline(file, line);
  if (line != first_line)
    throw usage_error{name + ": no checkpoint of this trainer, which begins with '" + first_line +
                      "'; name another --checkpoint, or leave out --resume"};
  std::string place, so_far, layers;
  for (std::string* const each : {&place, &so_far, &layers}) std::getline(file, *each);
  if (file && layers != text_of(sizes))
    throw usage_error{name + ": belongs to a network of sizes " + layers +
                      ", but these digits make one of " + text_of(sizes)};
  std::size_t count = 0;  // weights, biases, and their velocities
  for (std::size_t i = 1; i < sizes.size(); ++i) count += 2 * (sizes[i - 1] + 1) * sizes[i];
  std::vector<float> values(count);
  file.read(reinterpret_cast<char*>(values.data()),
            static_cast<std::streamsize>(values.size() * sizeof(float)));
  if (!file || file.peek() != std::ifstream::traits_type::eof())
    throw usage_error{name + ": not a whole checkpoint, or more than one: it has " +
                      std::to_string(fs::file_size(path)) + " bytes"};
  score sums;
  std::sscanf(so_far.c_str(), "%la %la", &sums.loss, &sums.digits);
  return {feedline::loader_state::from_json(place), sums, sizes, std::move(values)};
}

batch_lines::batch_lines(const fs::path& path, const feedline::loader_state& begin) : path_{path} {
  if (path.empty()) return;
  std::ostringstream kept;
  std::ifstream old{path};
  for (std::string line; std::getline(old, line);) {
    std::pair<std::uint64_t, std::uint64_t> at;
    std::istringstream{line} >> at.first >> at.second;
    if (at < std::pair{begin.epoch, begin.batch}) kept << line << '\n';
  }
  old.close();
  file_.open(path);
  file_ << kept.str();
  flush();
}

void batch_lines::flush() {
  if (!path_.empty() && !file_.flush())
    throw std::runtime_error{path_.string() + ": cannot be written"};
}

}  // namespace mnist
