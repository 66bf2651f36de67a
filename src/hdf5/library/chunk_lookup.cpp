#include "hdf5/library/chunk_lookup.hpp"

#include <feedline/error.hpp>

#include <limits>
#include <new>
#include <string_view>
#include <utility>

namespace feedline::detail {
namespace {

// The library's messages for a chunk that was never written, and for a dataset without written
// chunks; the same in all versions from 1.10.3 to 2.0.
constexpr std::string_view chunk_unwritten = "chunk address isn't defined";
constexpr std::string_view dataset_unwritten = "storage is not initialized";

hdf5_dataset_id open_same_object(hid_t dataset, hid_t file) {
#if H5_VERSION_GE(1, 12, 0)
  H5O_info2_t info{};
  if (H5Oget_info3(dataset, &info, H5O_INFO_BASIC) < 0) return {};
  return hdf5_dataset_id{H5Oopen_by_token(file, info.token)};
#else
  H5O_info_t info{};
  if (H5Oget_info2(dataset, &info, H5O_INFO_BASIC) < 0) return {};
  return hdf5_dataset_id{H5Oopen_by_addr(file, info.addr)};
#endif
}

/// Makes the library look a chunk up and read it; the driver then does not read it.
herr_t read_chunk(hid_t dataset, const hsize_t* first_element, std::uint32_t& filter_mask) {
  std::byte nothing{};
#if H5_VERSION_GE(2, 0, 0)
  std::size_t room = std::numeric_limits<std::size_t>::max();
  return H5Dread_chunk2(dataset, H5P_DEFAULT, first_element, &filter_mask, &nothing, &room);
#else
  return H5Dread_chunk(dataset, H5P_DEFAULT, first_element, &filter_mask, &nothing);
#endif
}

}  // namespace

/// An open file as the library sees it: a struct that begins with the library's own.
struct hdf5_chunk_lookup::open_file {
  H5FD_t base;  // set by the library
  hdf5_chunk_lookup* lookup;
  haddr_t end_of_addresses;

  static open_file* of(H5FD_t* file) noexcept { return reinterpret_cast<open_file*>(file); }
  static const open_file* of(const H5FD_t* file) noexcept {
    return reinterpret_cast<const open_file*>(file);
  }
};

/// The functions that the library calls do not throw.
H5FD_class_t hdf5_chunk_lookup::describe_driver() {
  H5FD_class_t driver{};
#if H5_VERSION_GE(1, 13, 0)
  driver.version = H5FD_CLASS_VERSION;
  driver.value = static_cast<H5FD_class_value_t>(H5_VFD_RESERVED);  // 256 to 511: private
#endif
  driver.name = "feedline chunk lookup";
  driver.maxaddr = HADDR_MAX;
  driver.fc_degree = H5F_CLOSE_STRONG;  // no object outlives its file, nor does the driver
  driver.fapl_size = sizeof(void*);     // a pointer to the lookup
  driver.open = [](const char* /*name*/, unsigned /*flags*/, hid_t access,
                   haddr_t /*most*/) -> H5FD_t* {
    const auto* lookup = static_cast<hdf5_chunk_lookup* const*>(H5Pget_driver_info(access));
    if (lookup == nullptr) return nullptr;
    auto* opened =
        new (std::nothrow) open_file{.base = {}, .lookup = *lookup, .end_of_addresses = 0};
    return opened == nullptr ? nullptr : &opened->base;
  };
  driver.close = [](H5FD_t* file) -> herr_t {
    delete open_file::of(file);
    return 0;
  };
  driver.query = [](const H5FD_t* /*file*/, unsigned long* flags) -> herr_t {
    if (flags != nullptr) *flags = 0;  // no buffers between the library and the driver
    return 0;
  };
  // Raw data is not read. So a request is recorded even if a damaged file says that the data lies
  // past the end.
  driver.get_eoa = [](const H5FD_t* file, H5FD_mem_t type) -> haddr_t {
    return type == H5FD_MEM_DRAW ? HADDR_MAX : open_file::of(file)->end_of_addresses;
  };
  driver.set_eoa = [](H5FD_t* file, H5FD_mem_t /*type*/, haddr_t end) -> herr_t {
    open_file::of(file)->end_of_addresses = end;
    return 0;
  };
  driver.get_eof = [](const H5FD_t* file, H5FD_mem_t /*type*/) -> haddr_t {
    return open_file::of(file)->lookup->file_.size();
  };
  driver.read = [](H5FD_t* file, H5FD_mem_t type, hid_t /*transfer*/, haddr_t offset,
                   std::size_t bytes, void* out) -> herr_t {
    auto& lookup = *open_file::of(file)->lookup;
    try {
      if (type == H5FD_MEM_DRAW)
        lookup.asked_ = request{.offset = offset, .bytes = bytes};
      else
        lookup.file_.read(offset, {static_cast<std::byte*>(out), bytes});
      return 0;
    } catch (...) {
      lookup.failure_ = std::current_exception();
      return -1;
    }
  };
  driver.write = [](H5FD_t* /*file*/, H5FD_mem_t /*type*/, hid_t /*transfer*/, haddr_t /*offset*/,
                    std::size_t /*bytes*/, const void* /*values*/) -> herr_t { return -1; };
  return driver;
}

hdf5_chunk_lookup::hdf5_chunk_lookup(const hdf5_session& hdf5, hid_t dataset, const byte_file& file,
                                     std::string name)
    : file_{file}, name_{std::move(name)} {
  static const H5FD_class_t description = describe_driver();  // the library may keep it
  driver_ = hdf5_handle<H5FDunregister>{H5FDregister(&description)};
  const hdf5_properties_id access{H5Pcreate(H5P_FILE_ACCESS)};
  hdf5_chunk_lookup* const self = this;
  if (driver_ && H5Pset_driver(access.get(), driver_.get(), &self) >= 0) {
    // The library wants a name; the driver does not use it.
    const char* path = file.name().empty() ? "(no name)" : file.name().c_str();
    opened_ = hdf5_file_id{H5Fopen(path, H5F_ACC_RDONLY, access.get())};
  }
  rethrow();
  if (opened_) dataset_ = open_same_object(dataset, opened_.get());
  rethrow();
  if (!dataset_ || H5Iget_type(dataset_.get()) != H5I_DATASET)
    throw hdf5_error{
        {.path = file_.name(), .field = name_},
        "the HDF5 library cannot open it again to look for its chunks; the file may be "
        "being written, or was replaced: " +
            hdf5.last_message()};
}

void hdf5_chunk_lookup::rethrow() {
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

hdf5_chunk hdf5_chunk_lookup::find(const hdf5_session& hdf5,
                                   std::span<const std::uint64_t> first_element) {
  if (is_unwritten_) return {};
  offset_.assign(first_element.begin(), first_element.end());
  std::uint32_t filter_mask = 0;
  const herr_t status = read_chunk(dataset_.get(), offset_.data(), filter_mask);
  rethrow();
  const auto asked = std::exchange(asked_, std::nullopt);
  if (status >= 0 && asked && asked->bytes <= std::numeric_limits<std::uint32_t>::max())
    return {.address = asked->offset,
            .bytes = static_cast<std::uint32_t>(asked->bytes),
            .filter_mask = filter_mask};

  const std::string message = status >= 0
                                  ? "it gives no address in the file, or a size of 4 GiB or more"
                                  : hdf5.last_message();
  is_unwritten_ = message == dataset_unwritten;
  if (is_unwritten_ || message == chunk_unwritten) return {};
  std::string place;
  for (const auto coordinate : first_element)
    place += (place.empty() ? "" : ", ") + std::to_string(coordinate);
  throw hdf5_error{{.path = file_.name(), .field = name_},
                   "the HDF5 library cannot find the chunk at element (" + place +
                       "); its index may be damaged: " + message};
}

}  // namespace feedline::detail
