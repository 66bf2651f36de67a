#include "loader/slot_path.hpp"

#include "loader/slot_sizes.hpp"
#include "reader/batch_reader.hpp"
#include "reader/converting_reader.hpp"
#include "reader/packing_reader.hpp"
#include "transfer/assembler.hpp"
#include "transfer/copier.hpp"

#include <cstddef>
#include <utility>
#include <vector>

namespace feedline::detail {
namespace {

std::shared_ptr<kept_rows> make_kept_rows(const loader_plan& plan, const dataset& dataset,
                                          const device_ptr& device, const slot_layout& rows) {
  if (plan.kept_samples == 0) return nullptr;
  if (plan.placement == placement::gather)
    return std::make_shared<kept_rows>(device, dataset.rows(), dataset.size());
  std::vector<std::size_t> row_bytes;
  for (std::size_t place = 0; place < rows.fields().size(); ++place)
    row_bytes.push_back(rows.row_bytes(place));
  return std::make_shared<kept_rows>(device, row_bytes, dataset.size(), plan.kept_samples);
}

}  // namespace

slot_path make_slot_path(const loader_plan& plan, const dataset& dataset, const device_ptr& device,
                         const loader_options& options, sample_source& source) {
  const slot_sizes sizes{dataset.fields(), options, plan.placement,
                         kept_share(plan.kept_samples, dataset.size()),
                         device->capabilities().reads_staging};
  const std::uint64_t batches = plan.batches_per_slot;
  const auto& programs = sizes.converted().programs;
  if (sizes.assembled()) {
    const slot_layout rows = sizes.rows(batches);
    const inlet_layout inlet = sizes.inlet(batches);
    auto kept = make_kept_rows(plan, dataset, device, rows);
    auto function = options.function ? std::make_unique<batch_stage>(device, *options.function,
                                                                     sizes.converted(batches),
                                                                     sizes.delivered(batches))
                                     : nullptr;
    auto reader = std::make_unique<packing_reader>(source, inlet, kept);
    auto carrier =
        std::make_unique<assembler>(device,
                                    assembler::formats{.rows = rows,
                                                       .batches = sizes.converted(batches),
                                                       .inlet = inlet,
                                                       .programs = programs},
                                    kept, std::move(function));
    return {std::move(reader), std::move(carrier), std::move(kept)};
  }
  std::unique_ptr<run_reader> reader;
  if (sizes.converted().any) {
    reader = std::make_unique<converting_reader>(source, sizes.rows(batches),
                                                 sizes.delivered(batches), programs);
  } else {
    reader = std::make_unique<batch_reader>(source, sizes.delivered(batches));
  }
  if (sizes.in_place()) return {std::move(reader), nullptr, nullptr};
  return {std::move(reader), std::make_unique<copier>(device, sizes.delivered(batches)), nullptr};
}

}  // namespace feedline::detail
