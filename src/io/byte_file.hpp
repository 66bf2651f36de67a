#pragma once

#include <feedline/error.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace feedline::detail {

/// Bytes [begin, end) of a file.
struct byte_range {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

/// A part of a file, and the memory that it is read into.
struct byte_read {
  std::uint64_t offset = 0;
  std::span<std::byte> out = {};

  [[nodiscard]] std::uint64_t end() const noexcept { return offset + out.size(); }
};

/// How a file is to be opened. A kind of file that cannot be mapped is read by calls in any case.
enum class file_access : std::uint8_t { automatic, mapped, by_calls };

/// A read that was begun. One thread; the memory that it fills must outlive it.
class begun_read {
 public:
  begun_read() = default;
  begun_read(const begun_read&) = delete;
  begun_read& operator=(const begun_read&) = delete;
  virtual ~begun_read() = default;

  /// Returns once all bytes are there. Is called once. @throws dataset_error as `byte_file::read`.
  virtual void finish() = 0;
};

/// A file that is read at any offset by any number of threads, wherever it is stored. Others may
/// cut, overwrite, replace or delete it meanwhile: that ends in a `dataset_error`, never in a
/// signal or in silence.
///
/// Datasets hold files by this interface alone, so that a new kind of storage needs no change to a
/// format. Local files are `local_file`.
///
/// Threads: all functions may be called by any number of threads.
class byte_file {
 public:
  byte_file(const byte_file&) = delete;
  byte_file& operator=(const byte_file&) = delete;
  virtual ~byte_file() = default;

  /// Names the file in errors: its path or address as it was given.
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  /// In bytes, when it was opened.
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }

  /// The file's bytes in memory, or nothing if they must be read by `read` at present. The answer
  /// may change while the file is in use, so callers ask once a run of samples. Lost bytes read as
  /// zeros, so a caller that copied from here must call `require_unchanged` before it passes on the
  /// copy. They keep their address for the file's life.
  [[nodiscard]] virtual std::span<const std::byte> mapped() const noexcept { return {}; }

  /// Reads bytes [offset, offset + out.size()): all, or it throws.
  /// @throws dataset_error with the name and the offset: beyond the end, cut short since it was
  ///         opened, an input error.
  void read(std::uint64_t offset, std::span<std::byte> out) const;
  /// The same. A few kilobytes are copied from the file's mapping, if there is one, which spares a
  /// system call. The caller calls `require_unchanged` before it passes on what it made of them.
  void copy(std::uint64_t offset, std::span<std::byte> out) const;
  /// The same for several parts at once. Parts that are near each other are read as one.
  /// @param parts Any number, in any order; they may overlap in the file. Sorted by offset on
  ///        return, also if it throws.
  void read(std::span<byte_read> parts) const;

  /// The same, begun: reads of several files of other machines are then on their way together.
  /// Files of this machine are read by `finish`. The file must outlive the read.
  /// @param parts Any number, in any order, which changes; they must outlive the read, too.
  [[nodiscard]] std::unique_ptr<begun_read> begin_read(std::span<byte_read> parts) const;

  /// @throws dataset_error if the file differs from its state when it was opened, as far as its
  ///         kind can tell at the cost of some hundred nanoseconds.
  virtual void require_unchanged() const = 0;
  /// Identifies the content as of opening: equal for two files opened under one name if and only if
  /// the file did not change in between, as far as its kind can tell.
  [[nodiscard]] virtual std::string version() const = 0;
  /// Whether versions tell contents of one size apart. Otherwise a later run cannot use again what
  /// was made of the file: the server tells neither a version nor a date.
  [[nodiscard]] virtual bool has_version() const noexcept { return true; }

  /// Names the file in what is kept for later runs: without secrets, and without anything that
  /// differs from run to run.
  [[nodiscard]] virtual std::string stable_name() const { return name_; }
  /// A folder of this machine in which an index of the file may be kept, unless the user names
  /// another one. Empty: none; it is as quick to look through the file.
  [[nodiscard]] virtual std::string index_folder() const { return {}; }

  /// Whether hints are useful: much of the file is not in memory. Checked again at times.
  [[nodiscard]] virtual bool is_cold() const noexcept = 0;
  /// About how many bytes a reader should ask for at a time; 0: as few as it likes, because a read
  /// costs little besides its bytes.
  [[nodiscard]] virtual std::size_t bytes_a_read() const noexcept { return 0; }
  /// Asks for bytes to be brought near. Returns without waiting for them.
  void will_need(std::uint64_t offset, std::uint64_t bytes) const noexcept;
  /// The same for several ranges; those that are near each other are asked for as one.
  /// @param ranges In any order, which changes.
  void will_need(std::span<byte_range> ranges) const noexcept;

  /// The path by which other libraries can open the same file on this machine; empty if none.
  [[nodiscard]] virtual std::string local_path() const { return {}; }

 protected:
  /// How far apart two parts may be that are read as one, and how large that one may be. The bytes
  /// in between are thrown away.
  struct joining {
    std::uint64_t max_gap = 0;
    std::uint64_t max_bytes = 0;
  };

  /// @param name Names it in errors. @param size In bytes.
  byte_file(std::string name, std::uint64_t size, joining joins)
      : name_{std::move(name)}, size_{size}, joins_{joins} {}

  /// Reads all parts, or throws. @param parts All within the file, none empty, sorted by offset.
  virtual void do_read(std::span<const byte_read> parts) const = 0;
  /// Begins to read parts, sorted and within the file. Null: `finish` reads them by `do_read`.
  [[nodiscard]] virtual std::unique_ptr<begun_read> do_begin_read(
      std::span<const byte_read> parts) const {
    (void)parts;
    return nullptr;
  }
  /// @param ranges All within the file, none empty, sorted, apart from each other.
  virtual void do_will_need(std::span<const byte_range> ranges) const noexcept { (void)ranges; }

  [[nodiscard]] dataset_error error(std::optional<std::uint64_t> offset,
                                    const std::string& message) const {
    return {{.path = name_, .field = {}, .sample = {}, .offset = offset}, message};
  }

 private:
  void require_within(const byte_read& part) const;

  const std::string name_;
  const std::uint64_t size_;
  const joining joins_;
};

using byte_file_ptr = std::shared_ptr<const byte_file>;

}  // namespace feedline::detail
