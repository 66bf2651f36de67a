#include "bench/storage/decoded_loads.hpp"

#include <feedline/error.hpp>

namespace feedline::bench {
namespace {

decode_on decoding_of(const std::string& decoder) {
  return decoder == "device" ? decode_on::device : decode_on::cpu;
}

}  // namespace

void add_decoding_options(test::command_line& line, decoding_options& options) {
  line.add_option("--readers", options.readers, "numbers of readers to try");
  line.add_option("--batch-size", options.batch_size, "samples");
  line.add_option("--decodes", options.decodes, "who does: some of cpu, device")
      .one_of({"cpu", "device"});
}

loader_options decoding_loads(const decoding_options& options, const std::string& decoder,
                              int readers) {
  loader_options made{.batch_size = options.batch_size,
                      .epochs = UINT64_MAX,
                      .readers = readers,
                      .placement = placement::stream,
                      .decode_on = decoding_of(decoder)};
  made.transforms = {{.field = "image",
                      .to = element_type::f16,
                      .scale = 1 / 255.0,
                      .mean = {0.485, 0.456, 0.406},
                      .stddev = {0.229, 0.224, 0.225},
                      .layout = image_layout::hwc}};
  return made;
}

decoding_rates measure_decoding(loader& loader, const std::string& decoder,
                                const decoding_options& options, const gpu_stream& stream) {
  if (loader.plan().decode_on != decoding_of(decoder))
    throw usage_error{"readers decode: " + loader.plan().decode_note};
  std::uint64_t epoch = 0;
  (void)consume(loader, epoch, stream, 0);
  const spread runs =
      repeat(options.runs, [&] { return consume(loader, epoch, stream, options.seconds); });
  const auto images_of = [&](const delivered& run) {
    return run.batches_per_second() * static_cast<double>(options.batch_size);
  };
  return {runs, images_of(runs.median()), images_of(runs.least()), images_of(runs.most())};
}

}  // namespace feedline::bench
