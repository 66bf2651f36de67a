#include "loader/slot_path.hpp"

#include "loader/plan.hpp"
#include "reader/batch_reader.hpp"
#include "reader/converting_reader.hpp"
#include "reader/packing_reader.hpp"
#include "transfer/assembler.hpp"
#include "transfer/copier.hpp"
#include "transfer/field_programs.hpp"

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
  const slot_layout batches{plan.fields, plan.batch_size, plan.batches_per_slot};
  const slot_layout rows{dataset.fields(), plan.batch_size, plan.batches_per_slot};
  converted_fields converted = convert_fields(dataset.fields(), options.transforms);
  if (plan.assembled) {
    const request_layout runs{plan};
    const inlet_layout inlet = inlet_of(plan, rows, runs, converted.random);
    auto kept = make_kept_rows(plan, dataset, device, rows);
    auto reader =
        std::make_unique<packing_reader>(source, inlet, runs, kept, options.transform_seed);
    auto carrier =
        std::make_unique<assembler>(device,
                                    assembler::formats{.rows = rows,
                                                       .batches = batches,
                                                       .inlet = inlet,
                                                       .runs = runs,
                                                       .programs = std::move(converted.programs)},
                                    std::move(kept));
    return {std::move(reader), std::move(carrier)};
  }
  std::unique_ptr<run_reader> reader;
  if (converted.any) {
    reader = std::make_unique<converting_reader>(
        source, rows, batches, std::move(converted.programs), options.transform_seed);
  } else {
    reader = std::make_unique<batch_reader>(source, batches);
  }
  if (plan.device_slots == 0) return {std::move(reader), nullptr};
  return {std::move(reader), std::make_unique<copier>(device, batches)};
}

}  // namespace feedline::detail
