#include "formats/parquet/file_input.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include <arrow/buffer.h>
#include <arrow/result.h>
#include <arrow/status.h>

namespace feedline::detail {
namespace {

/// Arrow passes failures on as statuses, so exceptions do not cross it.
class file_input final : public arrow::io::RandomAccessFile {
 public:
  explicit file_input(byte_file_ptr file) : file_{std::move(file)} {}

  arrow::Status Close() override {
    is_closed_ = true;
    return arrow::Status::OK();
  }
  bool closed() const override { return is_closed_; }
  arrow::Result<std::int64_t> Tell() const override { return at_; }
  arrow::Status Seek(std::int64_t position) override {
    if (position < 0) return arrow::Status::Invalid("a position before the file's beginning");
    at_ = position;
    return arrow::Status::OK();
  }
  arrow::Result<std::int64_t> GetSize() override {
    return static_cast<std::int64_t>(file_->size());
  }

  arrow::Result<std::int64_t> ReadAt(std::int64_t position, std::int64_t bytes,
                                     void* out) override {
    if (position < 0 || bytes < 0) return arrow::Status::Invalid("a range of negative numbers");
    const auto begin = std::min(static_cast<std::uint64_t>(position), file_->size());
    const auto count = std::min(static_cast<std::uint64_t>(bytes), file_->size() - begin);
    if (count == 0) return 0;
    try {
      file_->read(begin, {static_cast<std::byte*>(out), static_cast<std::size_t>(count)});
    } catch (const dataset_error& fault) {
      return arrow::Status::IOError("byte ", fault.offset().value_or(begin), ": ", fault.message());
    } catch (const std::exception& fault) {
      return arrow::Status::IOError("byte ", begin, ": ", fault.what());
    }
    return static_cast<std::int64_t>(count);
  }
  arrow::Result<std::shared_ptr<arrow::Buffer>> ReadAt(std::int64_t position,
                                                       std::int64_t bytes) override {
    const auto size = static_cast<std::int64_t>(file_->size());  // a damaged file may ask for more
    const std::int64_t left = std::max<std::int64_t>(0, size - std::max<std::int64_t>(0, position));
    ARROW_ASSIGN_OR_RAISE(auto buffer,
                          arrow::AllocateResizableBuffer(std::clamp<std::int64_t>(bytes, 0, left)));
    ARROW_ASSIGN_OR_RAISE(const std::int64_t count,
                          ReadAt(position, buffer->size(), buffer->mutable_data()));
    ARROW_RETURN_NOT_OK(buffer->Resize(count));
    return std::shared_ptr<arrow::Buffer>{std::move(buffer)};
  }

  arrow::Result<std::int64_t> Read(std::int64_t bytes, void* out) override {
    ARROW_ASSIGN_OR_RAISE(const std::int64_t count, ReadAt(at_, bytes, out));
    at_ += count;
    return count;
  }
  arrow::Result<std::shared_ptr<arrow::Buffer>> Read(std::int64_t bytes) override {
    ARROW_ASSIGN_OR_RAISE(auto buffer, ReadAt(at_, bytes));
    at_ += buffer->size();
    return buffer;
  }

 private:
  byte_file_ptr file_;
  std::int64_t at_ = 0;
  bool is_closed_ = false;
};

}  // namespace

std::shared_ptr<arrow::io::RandomAccessFile> make_file_input(byte_file_ptr file) {
  return std::make_shared<file_input>(std::move(file));
}

}  // namespace feedline::detail
