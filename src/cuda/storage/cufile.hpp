#pragma once

#include "io/descriptor.hpp"

#include <sys/types.h>

#include <cstddef>
#include <string>

namespace feedline::detail {

/// The calls of cuFile (GPUDirect Storage) that are used, as `cufile.h` declares them. They are
/// taken at run time from libcufile.so.0: neither a build nor a program needs the library, which is
/// loaded once and stays.
struct cufile_library {
  struct status {
    int code;    ///< 0: it worked
    int driver;  ///< CUDA's, where the code says so
  };
  struct description {
    int type = 1;  ///< an open file's descriptor
    union {
      int file;
      void* other;
    };
    const void* calls = nullptr;  ///< of file systems in user space
  };

  status (*open_driver)();
  status (*register_file)(void** handle, description* file);
  void (*deregister_file)(void* handle);
  ssize_t (*read)(void* handle, void* to, std::size_t bytes, off_t offset, off_t to_offset);

  /// The library, its driver opened. @throws device_error saying what is missing.
  [[nodiscard]] static const cufile_library& get();
};

/// A file that cuFile reads, opened anew: past the page cache where its file system can.
class cufile_file {
 public:
  /// @param file A descriptor, open for reading; may be closed afterwards.
  /// @throws device_error naming what is refused.
  explicit cufile_file(int file);
  cufile_file(const cufile_file&) = delete;
  cufile_file& operator=(const cufile_file&) = delete;
  ~cufile_file();

  /// As `file_reader::read`; the GPU is current. Any number of threads.
  void read(std::size_t offset, std::size_t bytes, void* to) const;

 private:
  const cufile_library& library_;
  descriptor own_;
  void* handle_ = nullptr;
};

}  // namespace feedline::detail
