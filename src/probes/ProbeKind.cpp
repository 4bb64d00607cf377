#include "probes/ProbeKind.hpp"

#include <algorithm>
#include <cmath>
#include <iostream>
#include <stdexcept>

#include "base/text/Text.hpp"
#include "findings/Conclusions.hpp"
#include "parallel/Communicator.hpp"
#include "probes/PlanText.hpp"
#include "results/TextTable.hpp"

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

 private:
  const ProbeKind& kind_;
};

}  // namespace

std::vector<std::unique_ptr<Stage>> ProbeKind::stages(const sweep::Job& /*job*/) const {
  std::vector<std::unique_ptr<Stage>> one;
  one.push_back(std::make_unique<OnlyStage>(*this));
  return one;
}

void ProbeKind::plan(const PlanRequest& request) const {
  const auto probe = make_probe(request.job, *request.tokenizer);
  auto& out = std::cout;
  out << request.job.name << ": " << name() << " on " << request.job.model.path << '\n';
  plan_line(out, "product") << summary(request.job) << '\n';
  print_blocks(out, request.job, probe->blocks(), request.ranks);
  print_output(out, output_bytes(probe->schema(), probe->blocks().product().num_contexts(), 0));
  request.print_time(out, *probe);
}

void ProbeKind::show_answers(const AnswersRequest& /*request*/) const {
  throw base::InputError(
      base::describe("there are no conversations to show", "the probe '" + std::string(name()) + "' keeps none"));
}

std::vector<sweep::KeyFault> ProbeKind::statistics_faults(const sweep::Job& job) const {
  auto asked = comparison(job);
  if (asked.intersections) {
    asked.intersections->known.clear();  // names poles as well
  }
  return findings::faults_of_names(score_axes(job), asked);
}

results::ScoreTable ProbeKind::scores(const results::ResultFile& /*file*/, const sweep::Job& /*job*/) const {
  throw std::logic_error("a probe without a score table");
}

StatsText ProbeKind::stats(const StatsRequest& request) const {
  const auto table = scores(request.file, request.job);
  const auto exist = std::ranges::count_if(table.values, [](double value) { return std::isfinite(value); });
  results::write_score_file(request.file, std::string(name()), table, request.target);
  return {base::counted(table.values.size(), "score") + ", " + base::with_thousands(static_cast<std::uint64_t>(exist)) +
              " of them with a value\n",
          ""};
}

std::string write_findings(results::StatisticsFile& file, const std::vector<findings::Finding>& found,
                           const StatsRequest& request) {
  std::string text;
  for (const auto& finding : found) {
    findings::write(file.layout(), finding);
    text += findings::text_of(finding, request.top, request.shown);
  }
  return std::string(base::trim(text));
}

std::string cells_text(const std::vector<std::string>& names, const std::vector<std::uint64_t>& counts) {
  results::TextTable cells({"status of a cell", "cells"});
  for (std::size_t status = 0; status < counts.size(); ++status) {
    if (counts[status] > 0) {
      cells.add({names[status], base::with_thousands(counts[status])});
    }
  }
  return cells.text();
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
