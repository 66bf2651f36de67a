#pragma once

#include <cstdint>

/// DLPack's structures in memory, as `dlpack.h` of DLPack 1.0 declares them
/// (https://github.com/dmlc/dlpack, Apache License 2.0). They are written down here because
/// distributions still ship the header of 0.6, which has no versions, and under names of our own
/// so that both can be included. Programs that were compiled with that header read these
/// structures: hence `may_alias`.
namespace feedline::detail::dlpack {

enum device_type : std::int32_t { cpu = 1, cuda = 2, cuda_host = 3, rocm_host = 11 };

enum type_code : std::uint8_t {
  signed_int = 0,
  unsigned_int = 1,
  floating = 2,
  bfloat = 4,
  boolean = 6
};

enum flag : std::uint64_t { read_only = 1, is_copied = 2 };

inline constexpr std::uint32_t major_version = 1;
inline constexpr std::uint32_t minor_version = 0;

struct [[gnu::may_alias]] version {
  std::uint32_t major;
  std::uint32_t minor;
};

struct [[gnu::may_alias]] device {
  std::int32_t type;
  std::int32_t id;
};

struct [[gnu::may_alias]] data_type {
  std::uint8_t code;
  std::uint8_t bits;
  std::uint16_t lanes;
};

struct [[gnu::may_alias]] tensor {
  void* data;
  dlpack::device device;
  std::int32_t ndim;
  data_type dtype;
  std::int64_t* shape;
  std::int64_t* strides;  ///< in elements; null: dense, row-major
  std::uint64_t byte_offset;
};

/// `DLManagedTensor`.
struct [[gnu::may_alias]] managed_tensor {
  dlpack::tensor tensor;
  void* manager;
  void (*deleter)(managed_tensor* self);  ///< may be null
};

/// `DLManagedTensorVersioned`. What stands before `tensor` is the same in every major version.
struct [[gnu::may_alias]] versioned_tensor {
  dlpack::version version;
  void* manager;
  void (*deleter)(versioned_tensor* self);  ///< may be null
  std::uint64_t flags;
  dlpack::tensor tensor;
};

}  // namespace feedline::detail::dlpack
