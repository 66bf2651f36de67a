#include "image/sets/file_values.hpp"

#include <feedline/error.hpp>

#include "image/stored_extents.hpp"
#include "io/file_magic.hpp"
#include "io/file_system.hpp"

#include <utility>

namespace feedline::detail {
namespace {

class file_values final : public coded_values {
 public:
  file_values(image_files files, std::string field, extents_check check, batch_sizes_ptr sizes)
      : files_{std::move(files)},
        field_{std::move(field)},
        check_{std::move(check)},
        sizes_{std::move(sizes)} {}

  std::uint64_t size() const override { return files_.files.size(); }
  batch_sizes_ptr sizes() const override { return sizes_; }

  std::uint64_t stored_bytes(std::uint64_t sample) const override {
    const std::string path = files_.path_of(sample);
    return file_system_of(path)->size_of(path);
  }

  std::span<const std::byte> read(std::uint64_t sample, const room& memory) const override {
    return checked(sample, [&](const file_system& files, const std::string& path) {
      return files.read_whole(path, memory);
    });
  }
  std::span<const std::byte> read_expected(std::uint64_t sample, std::span<std::byte> out,
                                           std::size_t bytes, const room& memory) const override {
    return checked(sample, [&](const file_system& files, const std::string& path) {
      return files.read_expected(path, out, bytes, memory);
    });
  }

  [[noreturn]] void refuse(const dataset_error& fault, std::uint64_t sample) const override {
    throw dataset_error{{.path = files_.path_of(sample), .field = field_, .sample = sample},
                        fault.message()};
  }

  bool wants_prefetch() const noexcept override {
    return hints_left_.load(std::memory_order_relaxed) > 0;
  }

  void prefetch(std::span<const sample_index> samples) const noexcept override try {
    for (const sample_index sample : samples) {
      if (sample.value >= size()) continue;
      const std::string path = files_.path_of(sample.value);
      file_system_of(path)->will_need_whole(path, 0);
    }
  } catch (...) {  // NOLINT(bugprone-empty-catch): short of memory; a hint may be dropped
  }

 private:
  /// The bytes of the file that `read_file(file system, path)` returns.
  template <class Read>
  std::span<const std::byte> checked(std::uint64_t sample, Read read_file) const try {
    const std::string path = files_.path_of(sample);
    const whole_file file = read_file(*file_system_of(path), path);
    note(file.was_in_memory);
    if (check_.known) compare(sample, file.bytes);
    return file.bytes;
  } catch (const dataset_error& fault) {
    refuse(fault, sample);
  }

  void compare(std::uint64_t sample, std::span<const std::byte> file) const {
    const auto extents = stored_extents(file, check_.follows_orientation);
    if (!extents) {
      if (is_tiff(file)) throw dataset_error{{}, "its directory says no width or height"};
      return;  // the decoder refuses others, and says why
    }
    const auto text = [](image_extents of) {
      return std::to_string(of.width) + " x " + std::to_string(of.height);
    };
    if (const auto other = check_.known->compare(sample, *extents))
      throw dataset_error{
          {},
          "it is " + text(*extents) + " pixels, but " + check_.other(sample) + ' ' + text(*other)};
  }

  /// Hints are useful from a file that had to be waited for, until this many files in a row were in
  /// memory already.
  void note(bool was_in_memory) const noexcept {
    constexpr std::int64_t trial = 4096;
    if (!was_in_memory) {
      hints_left_.store(trial, std::memory_order_relaxed);
    } else if (hints_left_.load(std::memory_order_relaxed) > 0) {
      hints_left_.fetch_sub(1, std::memory_order_relaxed);
    }
  }

  image_files files_;
  std::string field_;
  extents_check check_;
  batch_sizes_ptr sizes_;
  mutable std::atomic<std::int64_t> hints_left_{0};
};

}  // namespace

coded_values_ptr make_file_values(image_files files, std::string field, extents_check check,
                                  batch_sizes_ptr sizes) {
  return std::make_shared<const file_values>(std::move(files), std::move(field), std::move(check),
                                             std::move(sizes));
}

}  // namespace feedline::detail
