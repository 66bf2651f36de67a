#include "programs/convert/output/output.hpp"

#include <stdexcept>

namespace convert {

std::unique_ptr<output> make_output(const std::filesystem::path& path, const content& what,
                                    const job& job) {
  switch (job.to) {
    case format::hdf5:
      return make_hdf5_output(path, what, job.layout);
    case format::npy:
      return make_npy_output(path, what);
    case format::records:
      return make_record_output(path, what);
  }
  throw std::logic_error{"a format that is none"};
}

}  // namespace convert
