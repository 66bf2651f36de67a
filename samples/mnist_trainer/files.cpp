#include "files.hpp"

#include <feedline/error.hpp>
#include <feedline/formats/idx.hpp>
#include <feedline/formats/npy.hpp>
#include <feedline/formats/open.hpp>

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
using digit_sets = std::pair<feedline::dataset_ptr, feedline::dataset_ptr>;

constexpr const char* first_line = "feedline mnist_trainer checkpoint 1";

/// One of MNIST's four files, by the name that its authors gave it.
fs::path idx_file(const fs::path& folder, const std::string& name) {
  for (const std::string ending : {"", ".gz"})
    if (fs::exists(folder / (name + ending))) return folder / (name + ending);
  throw usage_error{
      (folder / name).string() +
      ": not there, neither plain nor as .gz. The folder must hold MNIST's four files, or digits "
      "called 'train' and 'test'. make_digits makes digits; data/README.md says where MNIST is"};
}

bool is_npy_folder(const fs::path& path) {
  return fs::is_directory(path) && fs::exists(path / "image.npy");
}

feedline::dataset_ptr open_set(const fs::path& path) {
  if (is_npy_folder(path))
    return feedline::open_npy({{path / "image.npy", "image"}, {path / "label.npy", "label"}});
  return feedline::open(path,
                        {.fields = {"image", "label"}, .label_type = feedline::element_type::u8});
}

digit_sets open_pair(const fs::path& train) {
  const fs::path test = train.parent_path() / ("test" + train.extension().string());
  if (fs::exists(test)) return {open_set(train), open_set(test)};
  throw usage_error{test.string() + ": not there; beside " + train.string() +
                    " it is to hold the digits to test with"};
}

digit_sets open_any(const fs::path& data) {
  if (!fs::is_directory(data) || is_npy_folder(data)) return open_pair(data);
  for (const auto& entry : fs::directory_iterator{data})
    if (entry.path().stem() == "train") return open_pair(entry.path());
  return {feedline::open_idx(idx_file(data, "train-images-idx3-ubyte"),
                             idx_file(data, "train-labels-idx1-ubyte")),
          feedline::open_idx(idx_file(data, "t10k-images-idx3-ubyte"),
                             idx_file(data, "t10k-labels-idx1-ubyte"))};
}

std::string text_of(const std::vector<std::size_t>& sizes) {
  std::string text;
  for (const std::size_t size : sizes) text += (text.empty() ? "" : " ") + std::to_string(size);
  return text;
}

[[noreturn]] void fail(const std::string& path) {
  throw std::runtime_error{path + ": " + std::strerror(errno)};
}

}  // namespace

digit_sets open_digits(const fs::path& data) {
  digit_sets digits = open_any(data);
  const std::vector<feedline::field> train = digits.first->fields();
  const std::vector<feedline::field> test = digits.second->fields();
  if (train[0].type != feedline::element_type::u8 || train != test)
    throw usage_error{data.string() + ": images of bytes are wanted, alike to train on and " +
                      "to test with; found " + to_string(train[0]) + " and " + to_string(test[0])};
  return digits;
}

void write_checkpoint(const fs::path& path, const checkpoint& made) {
  char so_far[128];
  std::snprintf(so_far, sizeof so_far, "%a %a %a", made.so_far.loss, made.so_far.right,
                made.so_far.digits);
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
  std::string place;
  std::string so_far;
  std::string layers;
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
  std::sscanf(so_far.c_str(), "%la %la %la", &sums.loss, &sums.right, &sums.digits);
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
