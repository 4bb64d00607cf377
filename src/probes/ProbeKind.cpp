#include "probes/ProbeKind.hpp"

#include <stdexcept>

#include "parallel/Communicator.hpp"

namespace stereosweep::probes {
namespace {

class OnlyStage final : public Stage {
 public:
  explicit OnlyStage(const ProbeKind& kind) : kind_(kind) {}
  std::shared_ptr<const Probe> open(const StageRequest& request, std::span<const std::byte> /*input*/) override {
    return parallel::coordinated(request.world, [&] { return reopen(request); });
  }
  std::shared_ptr<const Probe> reopen(const StageRequest& request) override {
    return kind_.make_probe(request.job, *request.tokenizer);
  }
  std::optional<StageFile> file(const sweep::Job& job) const override {
    return StageFile{job.probe_name() + ".h5", job.probe_name()};
  }

 private:
  const ProbeKind& kind_;
};

}  // namespace

std::vector<std::unique_ptr<Stage>> ProbeKind::stages(const sweep::Job& /*job*/) const {
  std::vector<std::unique_ptr<Stage>> one;
  one.push_back(std::make_unique<OnlyStage>(*this));
  return one;
}

const ProbeKind& kind_of(std::string_view name) { return dynamic_cast<const ProbeKind&>(config::format_of(name)); }

const ProbeKind& kind_of(const sweep::Job& job) { return kind_of(job.probe_name()); }

std::unique_ptr<Probe> make_probe(const sweep::Job& job, const tokenizer::Tokenizer& tokenizer) {
  auto probe = kind_of(job).make_probe(job, tokenizer);
  if (!probe) {
    throw std::logic_error("a probe of several stages");
  }
  return probe;
}

}  // namespace stereosweep::probes
