#include "hdf5/library/lookup_driver.hpp"

#include <hdf5.h>
#if __has_include(<H5FDdevelop.h>)
#include <H5FDdevelop.h>
#endif

#include <new>
#include <span>
#include <utility>

namespace feedline::detail {

/// What the library sees of an open file: a struct that begins with its own.
struct hdf5_lookup_driver::open_file {
  H5FD_t base;  // the library sets it
  hdf5_lookup_driver* driver;
  haddr_t end_of_addresses;
};

/// Functions that the library calls. None may throw.
struct hdf5_lookup_driver::callbacks {
  static open_file* of(H5FD_t* file) noexcept { return reinterpret_cast<open_file*>(file); }
  static const open_file* of(const H5FD_t* file) noexcept {
    return reinterpret_cast<const open_file*>(file);
  }

  static H5FD_t* open(const char* /*name*/, unsigned /*flags*/, hid_t access, haddr_t /*most*/) {
    const auto* driver = static_cast<hdf5_lookup_driver* const*>(H5Pget_driver_info(access));
    if (driver == nullptr) return nullptr;
    auto* opened =
        new (std::nothrow) open_file{.base = {}, .driver = *driver, .end_of_addresses = 0};
    return opened == nullptr ? nullptr : &opened->base;
  }

  static herr_t close(H5FD_t* file) {
    delete of(file);
    return 0;
  }

  static herr_t query(const H5FD_t* /*file*/, unsigned long* flags) {
    if (flags != nullptr) *flags = 0;  // no buffers between the library and the driver
    return 0;
  }

  /// Of raw data nothing is read: where a damaged file says that it lies beyond the end is noted, too.
  static haddr_t get_end_of_addresses(const H5FD_t* file, H5FD_mem_t type) {
    return type == H5FD_MEM_DRAW ? HADDR_MAX : of(file)->end_of_addresses;
  }
  static herr_t set_end_of_addresses(H5FD_t* file, H5FD_mem_t /*type*/, haddr_t end) {
    of(file)->end_of_addresses = end;
    return 0;
  }
  static haddr_t get_end_of_file(const H5FD_t* file, H5FD_mem_t /*type*/) {
    return of(file)->driver->file_.size();
  }

  static herr_t read(H5FD_t* file, H5FD_mem_t type, hid_t /*transfer*/, haddr_t offset,
                     std::size_t bytes, void* out) {
    auto& driver = *of(file)->driver;
    if (type == H5FD_MEM_DRAW) {
      driver.asked_ = place{.offset = offset, .bytes = bytes};
      return 0;
    }
    try {
      driver.file_.read(offset, {static_cast<std::byte*>(out), bytes});
      return 0;
    } catch (...) {
      driver.failure_ = std::current_exception();
      return -1;
    }
  }

  static herr_t write(H5FD_t* /*file*/, H5FD_mem_t /*type*/, hid_t /*transfer*/, haddr_t /*offset*/,
                      std::size_t /*bytes*/, const void* /*values*/) {
    return -1;
  }

  static H5FD_class_t description() {
    H5FD_class_t driver{};
#if H5_VERSION_GE(1, 13, 0)
    driver.version = H5FD_CLASS_VERSION;
    driver.value = static_cast<H5FD_class_value_t>(H5_VFD_RESERVED);  // 256 to 511: for own use
#endif
    driver.name = "feedline chunk lookup";
    driver.maxaddr = HADDR_MAX;
    driver.fc_degree = H5F_CLOSE_STRONG;  // no object outlives its file, nor so the driver
    // NOLINTNEXTLINE(bugprone-sizeof-expression): the pointer itself is what HDF5 copies
    driver.fapl_size = sizeof(hdf5_lookup_driver*);
    driver.open = open;
    driver.close = close;
    driver.query = query;
    driver.get_eoa = get_end_of_addresses;
    driver.set_eoa = set_end_of_addresses;
    driver.get_eof = get_end_of_file;
    driver.read = read;
    driver.write = write;
    return driver;
  }
};

hdf5_lookup_driver::hdf5_lookup_driver(const hdf5_session& /*hdf5*/, const random_file& file)
    : file_{file} {
  static const H5FD_class_t description = callbacks::description();  // the library may keep it
  id_ = H5FDregister(&description);
}

hdf5_lookup_driver::~hdf5_lookup_driver() {
  if (id_ >= 0) H5FDunregister(id_);
}

hdf5_file_id hdf5_lookup_driver::open(const hdf5_session& /*hdf5*/) {
  const hdf5_properties_id access{H5Pcreate(H5P_FILE_ACCESS)};
  hdf5_lookup_driver* const self = this;
  if (id_ < 0 || H5Pset_driver(access.get(), id_, &self) < 0) return {};
  // The library wants a name; the driver does not.
  const char* name = file_.path().empty() ? "(no name)" : file_.path().c_str();
  return hdf5_file_id{H5Fopen(name, H5F_ACC_RDONLY, access.get())};
}

std::optional<hdf5_lookup_driver::place> hdf5_lookup_driver::take_asked() noexcept {
  return std::exchange(asked_, std::nullopt);
}

void hdf5_lookup_driver::rethrow() {
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

}  // namespace feedline::detail
