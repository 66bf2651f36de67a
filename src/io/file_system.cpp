#include "io/file_system.hpp"

#include <sys/vfs.h>

#include <algorithm>
#include <array>
#include <cstdint>

namespace feedline::detail {
namespace {

/// `f_type` of local file systems, from statfs(2) and linux/magic.h.
constexpr std::array<std::uint32_t, 18> local_kinds{
    0x0000EF53,  // ext2, ext3, ext4
    0x58465342,  // XFS
    0x9123683E,  // Btrfs
    0x2FC12FC1,  // ZFS
    0xF2F52010,  // F2FS
    0xCA451A4E,  // bcachefs
    0x01021994,  // tmpfs
    0x858458F6,  // ramfs
    0x958458F6,  // hugetlbfs
    0x794C7630,  // overlayfs, as in containers
    0x73717368,  // SquashFS
    0xE0F5E1E2,  // EROFS
    0x3153464A,  // JFS
    0x7366746E,  // NTFS
    0x2011BAB0,  // exFAT
    0x00004D44,  // FAT
    0x00009660,  // ISO 9660
    0x15013346,  // UDF
};

}  // namespace

bool is_on_local_file_system(int descriptor) noexcept {
  struct statfs status {};
  if (::fstatfs(descriptor, &status) != 0) return false;
  const auto kind = static_cast<std::uint32_t>(status.f_type);
  return std::find(local_kinds.begin(), local_kinds.end(), kind) != local_kinds.end();
}

}  // namespace feedline::detail
