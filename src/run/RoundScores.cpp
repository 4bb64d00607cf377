#include "run/RoundScores.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>

#include "base/Error.hpp"
#include "base/Lists.hpp"
#include "base/process/Processors.hpp"
#include "findings/decisions/Decisions.hpp"
#include "hdf5/File.hpp"
#include "probes/ProbeKind.hpp"
#include "results/Export.hpp"
#include "results/Reader.hpp"
#include "run/directory/RunDirectory.hpp"

namespace stereosweep::run {

/// Some sentences as a small table of their own, each as a template in one rephrasing: no score depends on what other
/// sentences there are, or on what a rephrasing is called.
struct RoundScores::Part {
  std::map<std::uint64_t, std::size_t> places;                ///< of its sentences on the axis of templates there
  std::map<std::uint64_t, std::vector<sweep::Block>> blocks;  ///< by outermost value
  void add_sentence(std::uint64_t sentence) { places.emplace(sentence, places.size()); }
};

RoundScores::RoundScores(const std::filesystem::path& root, const sweep::Job& job, const probes::Probe& probe)
    : root_(root), job_(job), probe_(probe), sentences_(probes::sentences_of(probe.schema())) {
  const auto& kind = probes::kind_of(job);
  axes_ = kind.score_axes(job);
  rounds_ = probes::visits_of(job);
  num_taken_.assign(std::size_t{1} << 8, 0);
}

void RoundScores::add(const results::JournalStore& journal) {
  if (values_.empty()) {
    Part part;  // each template in its first rephrasing
    for (std::uint64_t sentence = 0; sentence < num_sentences(); sentence += num_rephrasings()) {
      part.add_sentence(sentence);
    }
    add_part(part, nullptr);
  }
  const auto& plan = probe_.blocks();
  std::map<std::uint8_t, std::vector<sweep::Block>> blocks;
  for (const auto& record : journal.records()) {
    const auto block = plan.block(record.block_index);
    const auto context = plan.context(block, 0) % plan.contexts_per_outermost();
    blocks[rounds_[sentences_[context]]].push_back(block);
  }
  for (auto& [round, found] : blocks) {
    if (found.size() == num_taken_[round]) {
      continue;
    }
    Part part;
    for (std::uint64_t sentence = 0; sentence < rounds_.size(); ++sentence) {
      if (rounds_[sentence] == round) {
        part.add_sentence(sentence);
      }
    }
    num_taken_[round] = found.size();
    for (const auto& block : found) {
      part.blocks[block.index / plan.blocks_per_stretch()].push_back(block);
    }
    add_part(part, &journal);
  }
}

void RoundScores::add_part(const Part& part, const results::JournalStore* journal) {
  auto schema = probe_.schema();
  const auto template_place = probes::outer_axis(schema, "template");
  const auto rephrasing_place = probes::outer_axis(schema, "rephrasing");
  auto lengths = base::mapped(schema.outer_axes, [](const auto& axis) { return std::uint64_t{axis.labels.size()}; });
  const sweep::Product whole(lengths);
  const auto template_of = [&](const auto& placed) -> std::size_t { return placed.first / num_rephrasings(); };
  schema.outer_axes[template_place] = schema.outer_axes[template_place].part(base::mapped(part.places, template_of));
  schema.outer_axes[rephrasing_place] = schema.outer_axes[rephrasing_place].part({0});
  lengths[template_place] = part.places.size();
  lengths[rephrasing_place] = 1;
  const auto num_inside = sweep::Product(lengths).num_contexts() / lengths.front();
  const sweep::BlockPlan plan(sweep::Product(lengths), num_inside);
  const auto place_inside = [&](std::uint64_t context) {
    auto at = whole.coordinates(context);
    at[template_place] = part.places.at(sentences_[context % sentences_.size()]);
    at[rephrasing_place] = 0;
    std::uint64_t place = 0;
    for (std::size_t axis = 1; axis < lengths.size(); ++axis) {
      place = place * lengths[axis] + at[axis];
    }
    return place;
  };
  const auto filled = results::with_not_scored(schema);
  results::RunDescription run;
  run.title = job_.name;
  run.probe = job_.probe_name();
  run.schema = &schema;
  run.blocks = &plan;
  run.source = [&](const sweep::Block& inside) -> std::optional<results::RawBlock> {
    const auto found = part.blocks.find(inside.index);
    if (found == part.blocks.end()) {
      return std::nullopt;
    }
    auto gathered = results::unscored_block(filled, num_inside);
    for (const auto& block : found->second) {
      std::vector<std::uint64_t> places(block.num_contexts);
      for (std::uint64_t place = 0; place < places.size(); ++place) {
        places[place] = place_inside(probe_.blocks().context(block, place));
      }
      gathered.put(*journal->read_block(block, probe_.schema()), places, num_inside);
    }
    return gathered;
  };
  run.num_threads = base::num_own_processors();
  const hdf5::ShortLived plain;
  const auto raw = root_ / round_file;
  const auto table = root_ / round_table_file;
  const std::shared_ptr<void> removal(nullptr, [&](void*) {  // behind the readers below, also where one fails
    std::error_code ignored;
    std::filesystem::remove(raw, ignored);
    std::filesystem::remove(table, ignored);
  });
  results::export_run(run, raw);
  const results::ResultFile file(raw);
  const findings::Workers nobody;
  probes::kind_of(job_).stats({.file = file, .job = job_, .target = table, .top = 1, .world = nobody});
  const results::ScoreFile scores(table);
  if (values_.empty()) {
    begin(scores);
  } else {
    take(part, scores);
  }
}

void RoundScores::begin(const results::ScoreFile& file) {
  auto axes = file.axes();
  for (const auto axis : {findings::template_axis, findings::rephrasing_axis}) {
    axes[axis] = axes_[axis];
  }
  axes_ = std::move(axes);
  const auto is_decided = findings::decided_measures(findings::scores_of(axes_), probes::kind_of(job_).asked(job_));
  values_.resize(is_decided.size());
  statuses_.resize(is_decided.size());
  const auto num_places = axes_[findings::subject_axis].labels.size() * num_sentences() * sentence_length();
  const auto of_template = num_rephrasings() * sentence_length();
  for (std::size_t measure = 0; measure < is_decided.size(); ++measure) {
    if (is_decided[measure]) {
      const auto statuses = file.read_statuses(measure);  // [subject, template]
      values_[measure].assign(num_places, stats::nan);
      for (std::size_t place = 0; place < num_places; ++place) {
        statuses_[measure].push_back(statuses[place / of_template * sentence_length() + place % sentence_length()]);
      }
    }
  }
}

void RoundScores::take(const Part& part, const results::ScoreFile& file) {
  constexpr auto unscored = static_cast<std::uint8_t>(results::ScoreStatus::unscored);
  const auto num_subjects = axes_[findings::subject_axis].labels.size();
  const auto num_inside = part.places.size();
  const auto length = sentence_length();
  for (std::size_t measure = 0; measure < values_.size(); ++measure) {
    if (values_[measure].empty()) {
      continue;
    }
    const auto values = file.read(measure);
    const auto statuses = file.read_statuses(measure);
    STEREOSWEEP_ASSERT(values.size() == num_subjects * num_inside * length, "a part has the subjects and items of all");
    for (std::size_t subject = 0; subject < num_subjects; ++subject) {
      for (const auto& [sentence, inside] : part.places) {
        const auto from = (subject * num_inside + inside) * length;
        const auto to = (subject * num_sentences() + sentence) * length;
        for (std::size_t place = 0; place < length; ++place) {
          if (statuses[from + place] != unscored) {
            values_[measure][to + place] = values[from + place];
            statuses_[measure][to + place] = statuses[from + place];
          }
        }
      }
    }
  }
}

findings::Scores RoundScores::scores() const {
  auto scores = findings::scores_of(axes_);
  scores.read = [this](std::size_t measure) { return values_.at(measure); };
  scores.read_statuses = [this](std::size_t measure) { return statuses_.at(measure); };
  return scores;
}

}  // namespace stereosweep::run
