#include "cuda/storage/cufile.hpp"

#include <feedline/error.hpp>

#include "io/descriptor.hpp"

#include <utility>

#include <dlfcn.h>

namespace feedline::detail {
namespace {

template <class Call>
void find(void* library, const char* name, Call& call) {
  call = reinterpret_cast<Call>(::dlsym(library, name));
  if (call == nullptr)
    throw device_error{"direct storage: libcufile.so.0 has no " + std::string{name} +
                       ": install that of the CUDA Toolkit 12 or newer"};
}

void check(const cufile_library::status& status, const std::string& call) {
  if (status.code != 0)
    throw device_error{"direct storage: " + call + " failed with " + std::to_string(status.code) +
                       " (CUfileOpError of cufile.h)"};
}

cufile_library load() {
  void* library = ::dlopen("libcufile.so.0", RTLD_NOW);
  if (library == nullptr) library = ::dlopen("/usr/local/cuda/lib64/libcufile.so.0", RTLD_NOW);
  if (library == nullptr)
    throw device_error{std::string{"direct storage: cuFile is not installed: "} + ::dlerror()};
  cufile_library found{};
  find(library, "cuFileDriverOpen", found.open_driver);
  find(library, "cuFileHandleRegister", found.register_file);
  find(library, "cuFileHandleDeregister", found.deregister_file);
  find(library, "cuFileRead", found.read);
  check(found.open_driver(), "cuFileDriverOpen");
  return found;
}

/// Opens a file that is open already once more, for reads past the page cache where it can be.
descriptor open_anew(int file) {
  const std::string path = "/proc/self/fd/" + std::to_string(file);
  descriptor own{path.c_str(), O_DIRECT};
  if (own.number() >= 0) return own;
  return descriptor{path.c_str()};
}

}  // namespace

const cufile_library& cufile_library::get() {
  static const cufile_library loaded = load();
  return loaded;
}

cufile_file::cufile_file(int file) : library_{cufile_library::get()}, own_{open_anew(file)} {
  if (own_.number() < 0) throw device_error{"direct storage: the file " + own_.refusal()};
  cufile_library::description described;
  described.file = own_.number();
  check(library_.register_file(&handle_, &described), "cuFileHandleRegister");
}

cufile_file::~cufile_file() {
  library_.deregister_file(handle_);
}

void cufile_file::read(std::size_t offset, std::size_t bytes, void* to) const {
  for (std::size_t done = 0; done < bytes;) {
    const ssize_t got = library_.read(handle_, to, bytes - done, static_cast<off_t>(offset + done),
                                      static_cast<off_t>(done));
    if (got <= 0)
      throw device_error{"direct storage: cuFileRead of " + std::to_string(bytes - done) +
                         " bytes at " + std::to_string(offset + done) + " gave " +
                         std::to_string(got) + (got == -1 ? ": " + system_words() : "")};
    done += static_cast<std::size_t>(got);
  }
}

}  // namespace feedline::detail
