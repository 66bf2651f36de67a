#include "formats/npy/zip_archive.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <utility>

#include <zip.h>

namespace feedline::detail {
namespace {

/// A file as libzip reads it. libzip is C, so exceptions of reading are kept here until it returns.
class file_reader {
 public:
  explicit file_reader(byte_file_ptr file) : file_{std::move(file)} { zip_error_init(&error_); }
  file_reader(const file_reader&) = delete;
  file_reader& operator=(const file_reader&) = delete;
  ~file_reader() { zip_error_fini(&error_); }

  const byte_file& file() const { return *file_; }

  std::uint64_t reads = 0;  ///< number of libzip's reads so far; offset and size of the last one:
  std::uint64_t last_offset = 0;
  std::uint64_t last_bytes = 0;

  /// @throws What reading the file threw, if it did.
  void rethrow() {
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  }

  /// A `zip_source_callback`.
  static zip_int64_t serve(void* self, void* data, zip_uint64_t length, zip_source_cmd_t command) {
    return static_cast<file_reader*>(self)->serve(data, length, command);
  }

 private:
  zip_int64_t serve(void* data, zip_uint64_t length, zip_source_cmd_t command) {
    switch (command) {
      case ZIP_SOURCE_OPEN:
        offset_ = 0;
        return 0;
      case ZIP_SOURCE_READ:
        return read({static_cast<std::byte*>(data), static_cast<std::size_t>(length)});
      case ZIP_SOURCE_SEEK: {
        const zip_int64_t to =
            zip_source_seek_compute_offset(offset_, file_->size(), data, length, &error_);
        if (to < 0) return -1;
        offset_ = static_cast<std::uint64_t>(to);
        return 0;
      }
      case ZIP_SOURCE_TELL:
        return static_cast<zip_int64_t>(offset_);
      case ZIP_SOURCE_STAT: {
        if (length < sizeof(zip_stat_t)) return -1;
        auto* stat = static_cast<zip_stat_t*>(data);
        zip_stat_init(stat);
        stat->valid = ZIP_STAT_SIZE;
        stat->size = file_->size();
        return sizeof(zip_stat_t);
      }
      case ZIP_SOURCE_ERROR:
        return zip_error_to_data(&error_, data, length);
      case ZIP_SOURCE_SUPPORTS:
        return zip_source_make_command_bitmap(
            ZIP_SOURCE_OPEN, ZIP_SOURCE_READ, ZIP_SOURCE_CLOSE, ZIP_SOURCE_STAT, ZIP_SOURCE_ERROR,
            ZIP_SOURCE_FREE, ZIP_SOURCE_SEEK, ZIP_SOURCE_TELL, ZIP_SOURCE_SUPPORTS, -1);
      case ZIP_SOURCE_CLOSE:
      case ZIP_SOURCE_FREE:
        return 0;
      default:
        zip_error_set(&error_, ZIP_ER_OPNOTSUPP, 0);
        return -1;
    }
  }

  zip_int64_t read(std::span<std::byte> into) {
    const std::uint64_t left = file_->size() - std::min(offset_, file_->size());
    into = into.first(static_cast<std::size_t>(std::min<std::uint64_t>(into.size(), left)));
    try {
      file_->read(offset_, into);
      ++reads;
      last_offset = offset_;
      last_bytes = into.size();
    } catch (...) {
      failure_ = std::current_exception();
      zip_error_set(&error_, ZIP_ER_READ, 0);
      return -1;
    }
    offset_ += into.size();
    return static_cast<zip_int64_t>(into.size());
  }

  byte_file_ptr file_;
  std::uint64_t offset_ = 0;
  zip_error_t error_{};
  std::exception_ptr failure_;
};

struct close_member {
  void operator()(zip_file_t* file) const { zip_fclose(file); }
};
using member_handle = std::unique_ptr<zip_file_t, close_member>;

std::string refusal(const std::string& what, const std::string& words) {
  return what + ": " + words + "; the archive is damaged, get it again";
}

class member_source final : public byte_source {
 public:
  member_source(member_handle member, std::uint64_t claimed_bytes, file_reader& reader,
                file_field name)
      : member_{std::move(member)},
        claimed_bytes_{claimed_bytes},
        reader_{reader},
        name_{std::move(name)} {}

  std::size_t read(std::span<std::byte> into) override {
    std::size_t count = 0;
    while (count < into.size()) {
      const zip_int64_t got = zip_fread(member_.get(), into.data() + count, into.size() - count);
      if (got == 0) break;
      if (got < 0) {
        reader_.rethrow();
        throw name_.error(done_ + count,
                          refusal("the member cannot be read", zip_file_strerror(member_.get())));
      }
      count += static_cast<std::size_t>(got);
    }
    done_ += count;
    return count;
  }

  std::optional<std::uint64_t> size() const override { return claimed_bytes_; }

 private:
  member_handle member_;
  std::uint64_t claimed_bytes_;
  file_reader& reader_;
  file_field name_;
  std::uint64_t done_ = 0;
};

class libzip_archive final : public zip_archive {
 public:
  explicit libzip_archive(byte_file_ptr file) : reader_{std::move(file)} {
    zip_error_t error;
    zip_error_init(&error);
    zip_source_t* source = zip_source_function_create(&file_reader::serve, &reader_, &error);
    if (source != nullptr) archive_ = zip_open_from_source(source, ZIP_RDONLY, &error);
    if (archive_ == nullptr) {
      const std::string words = zip_error_strerror(&error);
      if (source != nullptr) zip_source_free(source);  // else it is the archive's
      zip_error_fini(&error);
      reader_.rethrow();
      throw dataset_error{{.path = reader_.file().name(), .field = {}},
                          refusal("cannot be opened as a zip archive", words)};
    }
    zip_error_fini(&error);
    list_members();
  }

  ~libzip_archive() override { zip_discard(archive_); }

  std::unique_ptr<byte_source> open(std::size_t member, const file_field& name) override {
    return std::make_unique<member_source>(handle(member, 0, name), members_[member].bytes, reader_,
                                           name);
  }

  const std::vector<zip_member>& members() const noexcept override { return members_; }

  // libzip does not tell where a member is, but it asks for its bytes: the member begins where the
  // first of them are read.
  std::optional<std::uint64_t> place(std::size_t member, const file_field& name) override {
    const zip_member& claimed = members_[member];
    if (!claimed.is_stored || claimed.is_encrypted || claimed.bytes == 0) return std::nullopt;
    const member_handle opened = handle(member, ZIP_FL_COMPRESSED, name);

    std::array<std::byte, 512> head{};
    const auto bytes = std::min<std::uint64_t>(head.size(), claimed.bytes);
    const std::uint64_t before = reader_.reads;
    const zip_int64_t got = zip_fread(opened.get(), head.data(), bytes);
    reader_.rethrow();
    if (got != static_cast<zip_int64_t>(bytes) || reader_.reads != before + 1 ||
        reader_.last_bytes != bytes)
      return std::nullopt;
    const std::uint64_t begin = reader_.last_offset;
    std::array<std::byte, head.size()> there{};
    reader_.file().read(begin, std::span{there}.first(static_cast<std::size_t>(bytes)));
    if (there != head || claimed.bytes > reader_.file().size() - begin) return std::nullopt;
    return begin;
  }

 private:
  member_handle handle(std::size_t member, zip_flags_t flags, const file_field& name) {
    member_handle opened{zip_fopen_index(archive_, member, flags)};
    if (opened) return opened;
    reader_.rethrow();
    if (zip_error_code_zip(zip_get_error(archive_)) == ZIP_ER_COMPNOTSUPP)
      throw name.error(0,
                       "the member is compressed by a method that libzip cannot undo here; write "
                       "the archive again with numpy.savez_compressed");
    throw name.error(0, refusal("the member cannot be opened", zip_strerror(archive_)));
  }

  void list_members() {
    const zip_int64_t count = zip_get_num_entries(archive_, 0);
    for (zip_int64_t i = 0; i < count; ++i) {
      zip_stat_t stat;
      zip_stat_init(&stat);
      constexpr zip_uint64_t wanted = ZIP_STAT_NAME | ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE |
                                      ZIP_STAT_COMP_METHOD | ZIP_STAT_ENCRYPTION_METHOD;
      if (zip_stat_index(archive_, static_cast<zip_uint64_t>(i), 0, &stat) != 0 ||
          (stat.valid & wanted) != wanted)
        throw dataset_error{
            {.path = reader_.file().name(), .field = {}},
            refusal("member " + std::to_string(i) + " is not described", zip_strerror(archive_))};
      members_.push_back({stat.name, stat.size,
                          stat.comp_method == ZIP_CM_STORE && stat.size == stat.comp_size,
                          stat.encryption_method != ZIP_EM_NONE});
    }
  }

  file_reader reader_;  // outlives the archive, which reads by it
  zip_t* archive_ = nullptr;
  std::vector<zip_member> members_;
};

}  // namespace

std::unique_ptr<zip_archive> open_zip_archive(byte_file_ptr file) {
  return std::make_unique<libzip_archive>(std::move(file));
}

}  // namespace feedline::detail
