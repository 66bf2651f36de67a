#include "digit_sets.hpp"

#include <feedline/error.hpp>
#include <feedline/formats/idx.hpp>
#include <feedline/formats/npy.hpp>
#include <feedline/formats/open.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <vector>

namespace mnist {
namespace {

namespace fs = std::filesystem;

/// MNIST's names, as its authors gave them.
constexpr std::array idx_names{"train-images-idx3-ubyte", "train-labels-idx1-ubyte",
                               "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"};

/// The file of that name, plain or compressed; empty if there is neither.
fs::path find_idx(const fs::path& folder, const std::string& name) {
  for (const std::string& candidate : {name, name + ".gz"})
    if (fs::exists(folder / candidate)) return folder / candidate;
  return {};
}

digit_sets open_idx_folder(const fs::path& folder) {
  std::array<fs::path, idx_names.size()> files;
  std::string missing;
  for (std::size_t i = 0; i < idx_names.size(); ++i) {
    files[i] = find_idx(folder, idx_names[i]);
    if (!files[i].empty()) continue;
    if (!missing.empty()) missing += ", ";
    missing += idx_names[i];
  }
  if (!missing.empty())
    throw feedline::usage_error{
        folder.string() + ": not there, neither plain nor as .gz: " + missing +
        ". The folder is to hold MNIST's four files, or digits called 'train' and 'test'. "
        "'make_digits " +
        folder.string() + "' makes digits there; data/README.md says where MNIST is to be had"};
  const auto compressed =
      std::ranges::count_if(files, [](const fs::path& file) { return file.extension() == ".gz"; });
  return {feedline::open_idx(files[0], files[1]), feedline::open_idx(files[2], files[3]),
          compressed == 0 ? "IDX" : "gzip-compressed IDX"};
}

/// A folder of NumPy files, one a field, as feedline-convert writes them.
bool is_npy_folder(const fs::path& path) {
  return fs::is_directory(path) && fs::exists(path / "image.npy");
}

/// One set, in whatever format it is.
feedline::dataset_ptr open_set(const fs::path& path) {
  if (is_npy_folder(path))
    return feedline::open_npy({{path / "image.npy", "image"}, {path / "label.npy", "label"}});
  return feedline::open(path,
                        {.fields = {"image", "label"}, .label_type = feedline::element_type::u8});
}

/// The digits to test with are beside those to train on, called "test" where those may be called
/// anything.
digit_sets open_pair(const fs::path& train) {
  const fs::path test = train.parent_path() / ("test" + train.extension().string());
  if (!fs::exists(test))
    throw feedline::usage_error{test.string() + ": not there; beside " + train.string() +
                                " it is to hold the digits to test with"};
  const std::string format = is_npy_folder(train)
                                 ? "NumPy arrays"
                                 : std::string{to_string(feedline::detect_format(train))};
  return {open_set(train), open_set(test), format};
}

digit_sets open_any(const fs::path& data) {
  if (!fs::exists(data))
    throw feedline::usage_error{data.string() + ": no such file or folder (--data)"};
  if (!fs::is_directory(data) || is_npy_folder(data)) return open_pair(data);
  for (const auto& entry : fs::directory_iterator{data})
    if (entry.path().stem() == "train") return open_pair(entry.path());
  return open_idx_folder(data);
}

void expect_digits(const std::vector<feedline::field>& fields, const fs::path& data) {
  const auto is_bytes = [](const feedline::field& field) {
    return field.type == feedline::element_type::u8;
  };
  if (std::ranges::all_of(fields, is_bytes) && feedline::sample_bytes(fields.back()) == 1) return;
  std::string found;
  for (const feedline::field& field : fields) found.append(" ").append(feedline::to_string(field));
  throw feedline::usage_error{data.string() +
                              ": the trainer reads images of bytes with a byte for the label, and "
                              "found" +
                              found};
}

}  // namespace

digit_sets open_digits(const fs::path& data) {
  digit_sets digits = open_any(data);
  const std::vector<feedline::field> fields = digits.train->fields();
  expect_digits(fields, data);
  if (digits.test->fields() != fields)
    throw feedline::usage_error{data.string() +
                                ": the digits to test with are not like those to train on: " +
                                feedline::to_string(digits.test->fields().front()) + ", not " +
                                feedline::to_string(fields.front())};
  return digits;
}

}  // namespace mnist
