#include "cuda/storage/file_reader.hpp"

#include <feedline/error.hpp>

#include "cuda/context.hpp"
#include "cuda/storage/cufile.hpp"

#include <map>
#include <mutex>
#include <optional>

namespace feedline::detail {
namespace {

class cuda_file_reader final : public file_reader {
 public:
  explicit cuda_file_reader(int ordinal) : context_{ordinal} {}

  [[nodiscard]] std::string refusal(int file) override { return find(file).refusal; }

  void read(int file, std::uint64_t offset, std::size_t bytes, void* to) override {
    const known& from = find(file);
    if (!from.file) throw device_error{from.refusal};
    const cuda_current_device current{context_};
    from.file->read(offset, bytes, to);
  }

 private:
  struct known {
    std::optional<cufile_file> file;  ///< none: it is refused
    std::string refusal;
  };

  /// What is known of a file, for good.
  const known& find(int file) {
    const std::scoped_lock lock{mutex_};
    const auto [found, is_new] = files_.try_emplace(file);
    known& here = found->second;
    if (!is_new) return here;
    try {
      const cuda_current_device current{context_};
      here.file.emplace(file);
    } catch (const device_error& failure) {
      here.refusal = failure.what();
    }
    return here;
  }

  cuda_context context_;
  std::mutex mutex_;
  std::map<int, known> files_;  ///< by descriptor
};

class cuda_file_readers final : public file_readers {
 public:
  explicit cuda_file_readers(int ordinal) : ordinal_{ordinal} {}
  [[nodiscard]] std::unique_ptr<file_reader> make() const override {
    return std::make_unique<cuda_file_reader>(ordinal_);
  }

 private:
  int ordinal_;
};

}  // namespace

std::shared_ptr<const file_readers> make_cuda_file_readers(int ordinal) {
  return std::make_shared<cuda_file_readers>(ordinal);
}

}  // namespace feedline::detail
