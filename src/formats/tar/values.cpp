#include "formats/tar/values.hpp"

#include <feedline/index.hpp>

#include "io/byte_file.hpp"

#include <span>
#include <utility>

namespace feedline::detail {
namespace {

class tar_values final : public coded_values {
 public:
  tar_values(std::shared_ptr<const tar_shards> shards, tar_members members)
      : shards_{std::move(shards)}, members_{std::move(members)} {}

  std::uint64_t size() const override { return shards_->samples(); }
  std::uint64_t stored_bytes(std::uint64_t sample) const override {
    return shards_->find({sample}).places[members_.place].size;
  }

  std::span<const std::byte> read(std::uint64_t sample, const room& memory) const override try {
    const tar_sample found = shards_->find({sample});
    const tar_place member = found.places[members_.place];
    const byte_file& file = shards_->file(found.shard);
    const auto out = memory(static_cast<std::size_t>(member.size));
    file.read(member.offset, out);
    file.require_unchanged();
    return out;
  } catch (const dataset_error& fault) {
    refuse(fault, sample);
  }

  [[noreturn]] void refuse(const dataset_error& fault, std::uint64_t sample) const override {
    refuse_member(fault, *shards_, shards_->find({sample}), members_, sample);
  }

 private:
  std::shared_ptr<const tar_shards> shards_;
  tar_members members_;
};

}  // namespace

void refuse_member(const dataset_error& fault, const tar_shards& shards, const tar_sample& sample,
                   const tar_members& members, std::uint64_t index) {
  const byte_file& file = shards.file(sample.shard);
  file.require_unchanged();  // the bytes may come from a different file by now
  throw dataset_error{{file.name(), fault.field().empty() ? members.name : fault.field(), index,
                       sample.places[members.place].offset},
                      fault.path().empty()
                          ? "sample " + quoted_tar_name(sample.key) + ": " + fault.message()
                          : fault.message()};
}

coded_values_ptr make_tar_values(std::shared_ptr<const tar_shards> shards, tar_members members) {
  return std::make_shared<const tar_values>(std::move(shards), std::move(members));
}

}  // namespace feedline::detail
