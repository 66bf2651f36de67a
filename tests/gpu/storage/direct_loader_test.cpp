/// A loader whose GPU reads files itself, by a library in cuFile's stead: batches beside those of
/// readers.

#include <feedline/cuda/device.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "gpu/decode/decoded_epochs.hpp"
#include "gpu/gpu_stream.hpp"
#include "gpu/storage/cufile_fake.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/contains.hpp"
#include "support/datasets/plain_rows.hpp"

#include <cuda_runtime_api.h>

#include <cstdint>
#include <limits>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

/// What stands in cuFile's stead takes all files, and copies to the GPU.
void reset_cufile() {
  cufile().driver_code = cufile().register_code = 0;
  cufile().read_result = 0;
  cufile().most_at_once = std::numeric_limits<std::size_t>::max();
  cufile().copy = [](void* to, const void* from, std::size_t bytes) {
    FEEDLINE_CUDA_CHECK(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice));
  };
  cufile().reads = 0;
}

/// The bytes of two epochs, all fields.
std::vector<std::uint8_t> all_bytes(loader& loader, const gpu_stream& stream) {
  std::vector<std::uint8_t> bytes;
  for (std::uint64_t epoch = 0; epoch < 2; ++epoch)
    for (const batch& batch : loader.epoch(epoch, stream.ref())) {
      FEEDLINE_CUDA_CHECK(cudaStreamSynchronize(stream.get()));
      for (std::size_t place = 0; place < batch.field_count(); ++place) {
        const auto field = on_host(batch.field_at(place));
        bytes.insert(bytes.end(), field.begin(), field.end());
      }
    }
  return bytes;
}

}  // namespace

TEST_CASE("direct storage on the GPU: rows in files are those that readers stage", "[cuda][gpu]") {
  FEEDLINE_NEEDS_GPU();
  reset_cufile();
  const dataset_ptr data = make_plain_rows(300, 50'000);
  const device_ptr device = make_cuda_device(0);
  const gpu_stream stream;
  loader_options options{.batch_size = 20,
                         .readers = GENERATE(0, 4),
                         .epochs = 2,
                         .placement = placement::stream,
                         .direct_storage = true};
  loader direct{data, shuffle{.seed = 5}, device, options};
  CAPTURE(direct.plan().direct_storage_note);
  REQUIRE(direct.plan().direct_storage);
  const auto seen = all_bytes(direct, stream);
  CHECK(cufile().reads == 2 * 300);
  options.direct_storage = false;
  loader staged{data, shuffle{.seed = 5}, device, options};
  CHECK((seen == all_bytes(staged, stream)));
}

TEST_CASE("direct storage on the GPU: a read that fails is done by a reader", "[cuda][gpu]") {
  FEEDLINE_NEEDS_GPU();
  reset_cufile();
  const dataset_ptr data = make_plain_rows(100, 5'000);
  const device_ptr device = make_cuda_device(0);
  const gpu_stream stream;
  loader_options options{
      .batch_size = 20, .readers = 2, .placement = placement::stream, .direct_storage = true};
  loader direct{data, shuffle{.seed = 5}, device, options};
  REQUIRE(direct.plan().direct_storage);
  cufile().read_result = -5030;
  const auto seen = all_bytes(direct, stream);
  options.direct_storage = false;
  loader staged{data, shuffle{.seed = 5}, device, options};
  CHECK((seen == all_bytes(staged, stream)));
}

TEST_CASE("direct storage on the GPU: where cuFile refuses the file, the plan says so",
          "[cuda][gpu]") {
  FEEDLINE_NEEDS_GPU();
  reset_cufile();
  cufile().register_code = 5027;
  const loader loader{make_plain_rows(100, 5'000),
                      shuffle{.seed = 5},
                      make_cuda_device(0),
                      {.placement = placement::stream, .direct_storage = true}};
  CHECK_FALSE(loader.plan().direct_storage);
  CHECK(contains(loader.plan().direct_storage_note, "cuFileHandleRegister failed with 5027"));
}
