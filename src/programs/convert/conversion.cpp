#include "programs/convert/conversion.hpp"

#include <feedline/device/host_device.hpp>
#include <feedline/error.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/sequential.hpp>

#include "programs/convert/damage.hpp"
#include "programs/convert/order.hpp"
#include "programs/convert/output/output.hpp"
#include "programs/convert/work/work_folder.hpp"

#include <spdlog/spdlog.h>
#include <zlib.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

namespace convert {
namespace {

/// Samples are read and written about this many bytes at a time.
constexpr std::size_t batch_bytes = std::size_t{8} << 20;

/// CRC-32 of the samples' indices.
std::uint32_t checksum_of(const failures& left_out) {
  auto sum = static_cast<std::uint32_t>(crc32_z(0, nullptr, 0));
  for (const feedline::sample_failure& each : left_out)
    sum = static_cast<std::uint32_t>(
        crc32_z(sum, reinterpret_cast<const Bytef*>(&each.sample.value), sizeof each.sample.value));
  return sum;
}

/// Outputs do not have them.
std::vector<feedline::field> without_names_of_classes(std::vector<feedline::field> fields) {
  for (feedline::field& each : fields) each.classes = {};
  return fields;
}

/// An unfinished output is continued only if these are equal.
std::string identity_of(const content& what, const job& job, const failures& left_out) {
  constexpr const char* formats[] = {"hdf5", "npy", "zarr", "zarr2", "records"};
  constexpr const char* filters[] = {"none", "deflate", "lz4", "zstd"};
  std::string text = job.source;
  if (!text.empty() && text.back() != '\n') text += '\n';
  for (const feedline::field& field : what.fields) text += "field " + to_string(field) + '\n';
  text += fmt::format("of {} samples, ", what.samples);
  text += job.shuffle ? fmt::format("shuffled with seed {} within {} chunks\n", *job.shuffle,
                                    job.within_chunks)
                      : "in order\n";
  if (!left_out.empty())
    text += fmt::format("without {} damaged ones, which have checksum {:#010x}\n", left_out.size(),
                        checksum_of(left_out));
  text += fmt::format("to {}", formats[static_cast<std::size_t>(job.to)]);
  const hdf5_layout& layout = job.layout;
  if (job.to == format::hdf5 || job.to == format::zarr || job.to == format::zarr2)
    text += layout.contiguous
                ? " contiguous"
                : fmt::format(" chunks of {} {} {}", layout.chunk_rows,
                              filters[static_cast<std::size_t>(layout.filter)], layout.level);
  return text + '\n';
}

occupant checked_place(const job& job) {
  require_apart_from_inputs(job);
  return check_output(job);
}

/// Takes each field's next bytes into its CRC-32.
void add_to(std::vector<std::uint32_t>& sums, std::span<const std::span<const std::byte>> columns) {
  for (std::size_t f = 0; f < columns.size(); ++f)
    sums[f] = static_cast<std::uint32_t>(
        crc32_z(sums[f], reinterpret_cast<const Bytef*>(columns[f].data()), columns[f].size()));
}

class conversion {
 public:
  conversion(feedline::dataset_ptr from, const job& job, const progress& tell)
      : from_{std::move(from)},
        job_{job},
        tell_{tell},
        replaces_{checked_place(job_)},
        work_{job_.work()},
        left_out_{damage()},
        what_{from_->fields(), from_->size() - left_out_.size(), from_->chunks().samples,
              job_.carried},
        made_{identity_of(what_, job_, left_out_)},
        output_{make_output(work_.unfinished(), what_, job_)} {
    const std::size_t sample_bytes = bytes_of_sample();
    const std::uint64_t unit = output_->unit();
    batch_ = unit * std::max<std::uint64_t>(1, batch_bytes / sample_bytes / unit);
    checkpoint_ =
        std::max<std::uint64_t>(1, job_.checkpoint_bytes / sample_bytes / batch_) * batch_;
  }

  converted run() {
    const std::uint64_t resumed_from = begin();
    write_rest();
    output_->close();
    verify(step::verifying);
    work_.put_in_place(job_.output, replaces_);
    return {what_.samples, resumed_from, what_.fields, made_.checksums, left_out_};
  }

 private:
  std::size_t bytes_of_sample() const {
    std::size_t bytes = 0;
    for (const feedline::field& field : from_->fields()) bytes += feedline::sample_bytes(field);
    return bytes;
  }

  failures damage() const {
    if (!job_.skip_damaged) return {};
    // A format that cannot hold the fields is refused before all is read.
    (void)make_output(work_.unfinished(), {from_->fields(), from_->size()}, job_);
    const std::uint64_t batch = std::max<std::uint64_t>(1, batch_bytes / bytes_of_sample());
    return find_damage(from_, batch, job_.readers,
                       [&](std::uint64_t done) { tell_(step::searching, done, from_->size()); });
  }

  /// Samples that are written already.
  std::uint64_t begin() {
    if (!job_.restart && resume()) return made_.samples;
    made_.samples = 0;
    made_.checksums.assign(what_.fields.size(), 0);
    work_.clear();
    output_->open(durable_file::mode::create);
    return 0;
  }

  bool resume() {
    const auto found = journal::read(work_.journal());
    if (!found) return false;
    if (found->identity != made_.identity)
      throw feedline::usage_error{
          work_.unfinished().string() + ": was left unfinished by another conversion, of\n" +
          found->identity + "not of\n" + made_.identity + "--restart discards it"};
    const std::uint64_t written = found->samples;
    const bool whole_units = written % output_->unit() == 0 || written == what_.samples;
    if (written > what_.samples || !whole_units || found->checksums.size() != what_.fields.size())
      return false;
    made_ = *found;
    try {
      verify(step::checking);
      output_->open(durable_file::mode::open);
    } catch (const std::exception& error) {
      spdlog::warn("{} cannot be continued, and is begun again: {}", work_.unfinished().string(),
                   error.what());
      return false;
    }
    return true;
  }

  void write_rest() {
    if (made_.samples == what_.samples) return;
    std::uint64_t safe = made_.samples;
    each_batch(from_, part_of{order_of(*from_, job_, batch_, left_out_), safe, what_.samples},
               [&](const auto& columns, std::uint64_t count) {
                 add_to(made_.checksums, columns);
                 output_->write(made_.samples, count, columns);
                 made_.samples += count;
                 if (made_.samples - safe >= checkpoint_ || made_.samples == what_.samples) {
                   output_->sync();
                   made_.write(work_.journal());
                   safe = made_.samples;
                 }
                 tell_(step::writing, made_.samples, what_.samples);
               });
  }

  /// Reads what is made of the output as its users will.
  void verify(step now) {
    std::vector<std::uint32_t> found(what_.fields.size());
    if (made_.samples != 0) {
      const feedline::dataset_ptr back = output_->read_back();
      if (back->fields() != without_names_of_classes(what_.fields) || back->size() != what_.samples)
        throw std::runtime_error{work_.unfinished().string() +
                                 ": reads back with other fields or samples than were written"};
      std::uint64_t read = 0;
      each_batch(back, part_of{feedline::sequential{}, 0, made_.samples},
                 [&](const auto& columns, std::uint64_t count) {
                   add_to(found, columns);
                   read += count;
                   tell_(now, read, made_.samples);
                 });
    }
    for (std::size_t f = 0; f < found.size(); ++f)
      if (found[f] != made_.checksums[f])
        throw std::runtime_error{fmt::format(
            "{}: field '{}' reads back with checksum {:#010x}, not {:#010x} as it was written",
            work_.unfinished().string(), what_.fields[f].name, found[f], made_.checksums[f])};
  }

  template <class Take>
  void each_batch(const feedline::dataset_ptr& of, part_of order, Take&& take) const {
    feedline::loader loader{of,
                            std::move(order),
                            feedline::make_host_device(),
                            {.batch_size = batch_, .epochs = 1, .readers = job_.readers}};
    std::vector<std::span<const std::byte>> columns(what_.fields.size());
    for (const feedline::batch& batch : loader.epoch(0)) {
      for (std::size_t f = 0; f < columns.size(); ++f) columns[f] = batch.field_at(f).bytes();
      take(columns, batch.size());
    }
  }

  feedline::dataset_ptr from_;
  const job& job_;
  const progress& tell_;
  occupant replaces_;
  work_folder work_;
  failures left_out_;
  content what_;
  journal made_;
  std::unique_ptr<output> output_;
  std::uint64_t batch_ = 1;
  std::uint64_t checkpoint_ = 1;
};

}  // namespace

converted run(const feedline::dataset_ptr& from, const job& job, const progress& tell) {
  return conversion{from, job, tell}.run();
}

}  // namespace convert
