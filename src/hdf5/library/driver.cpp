// Over 250 lines: the functions that the library calls, and the functions that they use, share
// `open_file`.

#include "hdf5/library/driver.hpp"

#include <feedline/error.hpp>

#include "io/file_system.hpp"
#include "io/local/kept_descriptor.hpp"

#include <sys/file.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>

namespace feedline::detail {
namespace {

namespace fs = std::filesystem;

/// List of all drivers, for finding the driver of a file. Used only within sessions.
constinit hdf5_driver* first_driver = nullptr;

/// Further files are read by calls of pread, because a process may have only a limited number of
/// mappings.
constexpr std::size_t max_mapped_files = 64;

/// The same key for every spelling of a path, and for every later working directory.
std::string key_of(const fs::path& path) {
  return fs::absolute(path).lexically_normal().string();
}

}  // namespace

/// An open file as the library sees it: a struct that begins with the library's own.
struct hdf5_driver::open_file {
  H5FD_t base;  // set by the library
  hdf5_driver* driver;
  byte_file_ptr file;
  bool has_local_path = false;
  haddr_t end_of_addresses = 0;
  std::optional<descriptor> handle = {};  ///< opened where the library asks for one
  int number = -1;                        ///< its number

  static open_file* of(H5FD_t* file) noexcept { return reinterpret_cast<open_file*>(file); }
  static const open_file* of(const H5FD_t* file) noexcept {
    return reinterpret_cast<const open_file*>(file);
  }
};

template <class Body>
herr_t hdf5_driver::guard(Body body) noexcept {
  try {
    body();
    return 0;
  } catch (const dataset_error& failure) {
    keep(failure);
  } catch (const std::exception& failure) {
    keep({{}, failure.what()});
  }
  return -1;
}

/// The functions that the library calls do not throw.
H5FD_class_t hdf5_driver::describe() {
  H5FD_class_t driver{};
#if H5_VERSION_GE(1, 13, 0)
  driver.version = H5FD_CLASS_VERSION;
  driver.value = static_cast<H5FD_class_value_t>(H5_VFD_RESERVED + 1);  // 256 to 511: private
#endif
  driver.name = "feedline";
  driver.maxaddr = HADDR_MAX;
  driver.fc_degree = H5F_CLOSE_WEAK;
  // Files that a file leads to are opened with its properties: with this driver, too.
  driver.fapl_size = sizeof(void*);
  driver.fapl_get = [](H5FD_t* file) -> void* { return open_file::of(file)->driver; };
  driver.fapl_copy = [](const void* self) -> void* { return const_cast<void*>(self); };
  driver.fapl_free = [](void* /*self*/) -> herr_t { return 0; };
  driver.open = [](const char* name, unsigned /*flags*/, hid_t access,
                   haddr_t /*most*/) -> H5FD_t* {
    auto* const self = static_cast<hdf5_driver*>(const_cast<void*>(H5Pget_driver_info(access)));
    if (self == nullptr) return nullptr;
    H5FD_t* opened = nullptr;
    (void)self->guard([&] { opened = self->open(name); });
    return opened;
  };
  driver.close = [](H5FD_t* file) -> herr_t {
    const open_file* const closed = open_file::of(file);
    const auto open = closed->driver->open_.find(closed->file.get());
    if (--open->second == 0) closed->driver->open_.erase(open);
    delete closed;
    return 0;
  };
  driver.cmp = [](const H5FD_t* one, const H5FD_t* other) -> int {
    const auto& a = open_file::of(one)->file;
    const auto& b = open_file::of(other)->file;
    return a == b ? 0 : std::less<>{}(a, b) ? -1 : 1;
  };
  // Where a file has no path on this machine, the library must not look at its path.
  driver.query = [](const H5FD_t* file, unsigned long* flags) -> herr_t {
    if (flags == nullptr) return 0;
    *flags = H5FD_FEAT_DATA_SIEVE | H5FD_FEAT_ACCUMULATE_METADATA;
    if (file == nullptr || open_file::of(file)->has_local_path)
      *flags |= H5FD_FEAT_POSIX_COMPAT_HANDLE;
    return 0;
  };
  driver.get_eoa = [](const H5FD_t* file, H5FD_mem_t /*type*/) -> haddr_t {
    return open_file::of(file)->end_of_addresses;
  };
  driver.set_eoa = [](H5FD_t* file, H5FD_mem_t /*type*/, haddr_t end) -> herr_t {
    open_file::of(file)->end_of_addresses = end;
    return 0;
  };
  driver.get_eof = [](const H5FD_t* file, H5FD_mem_t /*type*/) -> haddr_t {
    return open_file::of(file)->file->size();
  };
  // The library passes properties when it asks for a descriptor: it follows a symbolic link to the
  // folder where it looks for other files, too. `file_of` asks without properties.
  driver.get_handle = [](H5FD_t* file, hid_t access, void** handle) -> herr_t {
    open_file& asked = *open_file::of(file);
    *handle = access == H5P_DEFAULT ? static_cast<void*>(&asked) : &asked.number;
    if (access == H5P_DEFAULT) return 0;
    return asked.driver->guard([&] {
      if (!asked.handle)
        asked.handle.emplace(open_with_room(asked.file->local_path().c_str(), O_NONBLOCK));
      asked.number = asked.handle->number();
      if (asked.number < 0)
        throw dataset_error{{.path = asked.file->name(), .field = {}}, asked.handle->refusal()};
    });
  };
  driver.read = [](H5FD_t* file, H5FD_mem_t /*type*/, hid_t /*transfer*/, haddr_t offset,
                   std::size_t bytes, void* out) -> herr_t {
    open_file& from = *open_file::of(file);
    return from.driver->guard([&] {
      auto& read = from.driver->read_;
      if (read.empty() || read.back() != from.file.get()) read.push_back(from.file.get());
      // The library looks for a file's front past its end, too, and expects zeros there.
      const std::uint64_t there =
          from.file->size() - std::min<std::uint64_t>(offset, from.file->size());
      const std::span<std::byte> to{static_cast<std::byte*>(out), bytes};
      const auto found = to.first(std::min<std::uint64_t>(bytes, there));
      std::ranges::fill(to.subspan(found.size()), std::byte{0});
      if (!found.empty()) from.file->read(offset, found);
    });
  };
  driver.write = [](H5FD_t* /*file*/, H5FD_mem_t /*type*/, hid_t /*transfer*/, haddr_t /*offset*/,
                    std::size_t /*bytes*/, const void* /*values*/) -> herr_t { return -1; };
  // A writer holds a lock. This only checks for one and does not keep it: changes are noticed
  // anyway, so no writer needs to be kept out.
  driver.lock = [](H5FD_t* file, auto /*for_writing*/) -> herr_t {
    const open_file& locked = *open_file::of(file);
    const std::string path = locked.file->local_path();
    if (path.empty()) return 0;
    return locked.driver->guard([&] {
      const descriptor probe{path.c_str(), O_NONBLOCK};
      if (probe.number() < 0 && kind_of_entry(path) == entry_kind::nothing)
        return;  // reported later
      if (probe.number() < 0) throw dataset_error{{.path = path, .field = {}}, probe.refusal()};
      if (::flock(probe.number(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        throw dataset_error{
            {.path = path, .field = {}},
            "is locked: this or another program has it open for writing; wait until that closes "
            "it. If no program writes to it (locks of this file system do not work, or stay after "
            "a program died), set the environment variable HDF5_USE_FILE_LOCKING=FALSE before this "
            "program starts"};
    });
  };
  driver.unlock = [](H5FD_t* /*file*/) -> herr_t { return 0; };
  return driver;
}

hdf5_driver::hdf5_driver(const hdf5_session& /*hdf5*/, hdf5_external_rule rule)
    : rule_{std::move(rule)}, next_{first_driver} {
  static const H5FD_class_t description = describe();  // the library may keep a pointer to it
  id_ = hdf5_handle<H5FDunregister>{H5FDregister(&description)};
  first_driver = this;
}

hdf5_driver::~hdf5_driver() {
  hdf5_driver** link = &first_driver;
  while (*link != this) link = &(*link)->next_;
  *link = next_;
}

hdf5_properties_id hdf5_driver::access(const hdf5_session& /*hdf5*/) const {
  hdf5_properties_id access{H5Pcreate(H5P_FILE_ACCESS)};
  H5Pset_driver(access.get(), id_.get(), this);
#if H5_VERSION_GE(1, 12, 1) || (!H5_VERSION_GE(1, 12, 0) && H5_VERSION_GE(1, 10, 7))
  // A writer's lock is respected, but a file system without locks is accepted.
  H5Pset_file_locking(access.get(), true, true);
#endif
  return access;
}

byte_file_ptr hdf5_driver::file_of(const hdf5_session& /*hdf5*/, hid_t dataset) {
  const hdf5_file_id file{H5Iget_file_id(dataset)};
  const hdf5_properties_id access{file ? H5Fget_access_plist(file.get()) : H5I_INVALID_HID};
  const hid_t id = H5Pget_driver(access.get());
  for (const hdf5_driver* each = first_driver; each != nullptr; each = each->next_) {
    void* handle = nullptr;
    if (each->id_.get() == id && H5Fget_vfd_handle(file.get(), H5P_DEFAULT, &handle) >= 0)
      return static_cast<const open_file*>(handle)->file;
  }
  return nullptr;
}

byte_file_ptr hdf5_driver::find(const fs::path& path) {
  const std::string key = key_of(path);
  if (const auto known = files_.find(key); known != files_.end()) {
    known->second->require_unchanged();
    return known->second;
  }
  if (kind_of_entry(path.string()) == entry_kind::nothing) return nullptr;
  const dataset_location where{.path = path.string(), .field = {}};
  if (is_closed_)
    throw dataset_error{
        where,
        "was missing, or not needed, when the file that names it was opened; open that file again"};
  if (!files_.empty())
    if (const std::string refusal = rule_.refusal_of(path); !refusal.empty())
      throw dataset_error{where, refusal};
  const auto how =
      files_.size() < max_mapped_files ? file_access::automatic : file_access::by_calls;
  return files_.emplace(key, detail::open_file(path.string(), how)).first->second;
}

H5FD_t* hdf5_driver::open(const char* name) {
  const byte_file_ptr known = find(name);
  if (known == nullptr) {
    absent_.emplace_back(name);
    return nullptr;
  }
  std::erase_if(absent_, [found = fs::path{name}.filename()](const fs::path& each) {
    return each.filename() == found;
  });
  opened_.push_back(known);
  const bool is_local = !known->local_path().empty();
  auto opened = std::make_unique<open_file>(
      open_file{.base = {}, .driver = this, .file = known, .has_local_path = is_local});
  ++open_[known.get()];
  return &opened.release()->base;
}

/// The library looks at the path again after the driver has, and gives up if that fails.
std::string hdf5_driver::change_of(const byte_file& opened) const {
  if (kind_of_entry(opened.name()) == entry_kind::nothing)
    return "was deleted or moved since it was opened";
  if (detail::open_file(opened.name(), file_access::by_calls)->version() != opened.version())
    return "was written to, or replaced by another file, since it was opened";
  return open_.contains(&opened) ? "" : "was opened, but the HDF5 library could not read it";
}

void hdf5_driver::keep(const dataset_error& failure) {
  hdf5_session::explain(failure.what());
  if (!failure_) failure_.emplace(failure);
}

std::optional<dataset_error> hdf5_driver::fault() const try {
  if (failure_) return failure_;
  if (!absent_.empty())
    return dataset_error{
        {.path = absent_.front().string(), .field = {}},
        "is not there, nor in the other folders where the HDF5 library looks for it"};
  for (const byte_file* const file : read_) file->require_unchanged();
  for (const byte_file_ptr& opened : opened_)
    if (const std::string change = change_of(*opened); !change.empty())
      return dataset_error{{.path = opened->name(), .field = {}}, change};
  return std::nullopt;
} catch (const dataset_error& change) {
  return change;
}

hdf5_file_id open_if_being_written(const hdf5_session& /*hdf5*/, const fs::path& path) {
  const hdf5_properties_id access{H5Pcreate(H5P_FILE_ACCESS)};
  H5Pset_fapl_sec2(access.get());
  hdf5_file_id file{H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.get())};
  unsigned intent = 0;
  if (!file || H5Fget_intent(file.get(), &intent) < 0 || (intent & H5F_ACC_RDWR) == 0) return {};
  return file;
}

}  // namespace feedline::detail
