#include "checkpoint.hpp"

#include <feedline/error.hpp>

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <string>
#include <utility>

namespace mnist {
namespace {

constexpr const char* first_line = "feedline mnist_trainer checkpoint 1";

std::string text_of(const std::vector<std::size_t>& sizes) {
  std::string text;
  for (const std::size_t size : sizes) text += (text.empty() ? "" : " ") + std::to_string(size);
  return text;
}

std::string text_of(const score& so_far) {
  std::string text(256, '\0');
  const int length =
      std::snprintf(text.data(), text.size(), "%a %a %a", so_far.loss, so_far.right, so_far.digits);
  text.resize(static_cast<std::size_t>(length));
  return text;
}

/// Weights, biases, and the velocity of each.
std::size_t values_of(const std::vector<std::size_t>& sizes) {
  std::size_t values = 0;
  for (std::size_t i = 1; i < sizes.size(); ++i) values += 2 * (sizes[i - 1] + 1) * sizes[i];
  return values;
}

score score_in(const std::string& text) {
  score found;
  const char* at = text.c_str();
  for (double* const each : {&found.loss, &found.right, &found.digits}) {
    char* end = nullptr;
    *each = std::strtod(at, &end);
    at = end;
  }
  return found;
}

[[noreturn]] void fail(const std::string& path) {
  throw std::runtime_error{path + ": " + std::strerror(errno)};
}

}  // namespace

void write_checkpoint(const std::filesystem::path& path, const checkpoint& made) {
  const std::string head = std::string{first_line} + "\n" + to_json(made.place) + "\n" +
                           text_of(made.so_far) + "\n" + text_of(made.sizes) + "\n";
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

checkpoint read_checkpoint(const std::filesystem::path& path,
                           const std::vector<std::size_t>& sizes) {
  const std::string name = path.string();
  std::ifstream file{path, std::ios::binary};
  if (!file.is_open()) fail(name);
  std::string first;
  if (!std::getline(file, first) || first != first_line)
    throw feedline::usage_error{name + ": no checkpoint of this trainer, which begins with '" +
                                first_line + "'; name another --checkpoint, or leave out --resume"};
  std::string place;
  std::string so_far;
  std::string layers;
  for (std::string* const each : {&place, &so_far, &layers}) std::getline(file, *each);
  if (file && layers != text_of(sizes))
    throw feedline::usage_error{name + ": of a network of sizes " + layers +
                                ", where these digits make one of " + text_of(sizes)};
  std::vector<float> values(values_of(sizes));
  file.read(reinterpret_cast<char*>(values.data()),
            static_cast<std::streamsize>(values.size() * sizeof(float)));
  if (!file || file.peek() != std::ifstream::traits_type::eof())
    throw feedline::usage_error{name + ": not a whole checkpoint, or more than one: it has " +
                                std::to_string(std::filesystem::file_size(path)) + " bytes"};
  return {feedline::loader_state::from_json(place), score_in(so_far), sizes, std::move(values)};
}

}  // namespace mnist
