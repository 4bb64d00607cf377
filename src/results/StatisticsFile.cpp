#include "results/StatisticsFile.hpp"

#include "base/Text.hpp"
#include "results/Reader.hpp"
#include "results/Seal.hpp"
#include "results/Software.hpp"

namespace stereosweep::results {

StatisticsFile::StatisticsFile(const ResultFile& source, const std::string& probe, const std::filesystem::path& target)
    : pending_(target), file_(hdf5::File::create(pending_.path())), layout_(std::make_unique<Layout>(file_.root())) {
  root().write_attribute("Conventions", "CF-1.8");
  root().write_attribute("schema", "stereosweep-statistics/" + probe);
  root().write_attribute("schema_version", "1.0");
  for (const auto* copied : {"title", "created", "model", "model_sha256", "dtype", "job_sha256"}) {
    if (const auto text = source.text(copied)) {
      root().write_attribute(copied, *text);
    }
  }
  root().write_attribute("software", "stereosweep");
  root().write_attribute("software_version", software_version());
  root().write_attribute("source_digest", base::to_hex(digest_of_file(source)));
  root().write_attribute("source_complete", std::int64_t{source.complete() ? 1 : 0});
}

void StatisticsFile::commit() {
  layout_.reset();
  root().write_attribute("complete", std::int64_t{1});
  file_.finish();
  commit_sealed(pending_);
}

}  // namespace stereosweep::results
